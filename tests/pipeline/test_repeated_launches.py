"""A script that does not ask for the GPU makes the same launches on another GPU of the vendor."""

from pathlib import Path

import pytest

from explorer.model.hardware import find_target
from explorer.pipeline import repeated_launches
from explorer.pipeline.module import load
from explorer.pipeline.repeated_launches import depends_on_target, for_target

HOPPER, AMPERE, CDNA, RDNA = map(find_target, ("cuda:90", "cuda:80", "hip:gfx942", "hip:gfx1100"))
FOLDERS = (Path(__file__).parents[2] / "explorer/examples", Path(__file__).with_name("scripts"))
INDEPENDENT = [
    "convolution_2d", "copy_coalesced_strided", "dropout", "dropout_seeded", "flash_attention", "layer_norm",
    "layer_norm_autograd", "matmul", "needs_a_value", "package_file", "reduction", "softmax",
    "special_arguments", "vector_add",
]  # fmt: skip

SCALE = """\
import torch, triton
import triton.language as tl

@triton.jit
def scale(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * n)

x = torch.randn(64, device="cuda")
scale[(1,)](x, 3, BLOCK=64)
"""


def contents(found):
    launches = [(launch.info, launch.recorded.options, launch.recorded.attrs) for launch in found.launches]
    return launches, [(each.severity, each.message, each.line) for each in found.diagnostics]


@pytest.mark.slow
@pytest.mark.parametrize("name", INDEPENDENT)
@pytest.mark.parametrize(("target", "other"), [(HOPPER, AMPERE), (CDNA, RDNA)], ids=["cuda", "hip"])
def test_a_script_for_another_target_is_as_if_executed_for_it(name, target, other, monkeypatch):
    # A busy processor or a garbage collection takes a second at times.
    monkeypatch.setattr(repeated_launches, "_REPEAT_SECONDS", 60.0)
    path = next(folder / f"{name}.py" for folder in FOLDERS if (folder / f"{name}.py").exists())
    found = load(path.read_text(), target)
    assert not depends_on_target(found, target, {})
    assert contents(for_target(found, other, {})) == contents(load(path.read_text(), other))


@pytest.mark.parametrize(
    "reading",
    [
        "torch.cuda.get_device_capability()",
        "torch.cuda.get_device_properties(0).multi_processor_count",
        "torch.cuda.get_device_name()",
        "torch.cuda.mem_get_info()",
        "triton.runtime.driver.active.get_current_target()",
        "triton.runtime.driver.active.utils.get_device_properties(0)",
        "tl.target_info.is_cuda()",
        "scale.create_binder()",
        "triton.runtime.driver.set_active(object())",
        "scale[(1,)](x, 4, BLOCK=64).metadata",
        "scale[(1,)](x, 4, BLOCK=64).asm['ttir']",
    ],
)
def test_a_script_that_asks_for_the_gpu_depends_on_it(reading):
    found = load(f"{SCALE}{reading}\n", HOPPER)
    assert found.diagnostics == []
    assert depends_on_target(found, HOPPER, {})


def test_a_condition_of_a_missing_module_asks_for_the_gpu():
    found = load(f"from made_up_kernels import is_hopper\n{SCALE}if is_hopper(): pass\n", HOPPER)
    assert depends_on_target(found, HOPPER, {})


def test_a_launch_that_differs_when_it_is_made_again_depends_on_the_target():
    growing = "@triton.heuristics({'BLOCK': lambda _: count.append(1) or 16 << len(count)})"
    counted = SCALE.replace("@triton.jit", f"count = []\n{growing}\n@triton.jit").replace(", BLOCK=64", "")
    found = load(counted, HOPPER)
    assert [launch.recorded.bound_arguments["BLOCK"] for launch in found.launches] == [32]
    assert depends_on_target(found, HOPPER, {})


@pytest.mark.parametrize(
    "heuristic",
    [
        "lambda _: done and exit(3) or done.append(1) or 64",
        "lambda _: done and time.sleep(1.5) or done.append(1) or 64",
        "lambda _: done and 1 / 0 or done.append(1) or 64",
    ],
)
def test_a_launch_that_fails_when_it_is_made_again_depends_on_the_target(heuristic):
    decorated = f"import time\ndone = []\n@triton.heuristics({{'BLOCK': {heuristic}}})\n@triton.jit"
    found = load(SCALE.replace("@triton.jit", decorated).replace(", BLOCK=64", ""), HOPPER)
    assert found.diagnostics == []
    assert depends_on_target(found, HOPPER, {})


def test_a_call_that_makes_no_launch_again_depends_on_the_target():
    once = "class Once(triton.JITFunction):\n    def run(self, *args, **options):\n"
    once += "        if done: return\n        done.append(1)\n        return super().run(*args, **options)\n"
    found = load(SCALE.replace("@triton.jit", f"done = []\n{once}\n@Once"), HOPPER)
    assert len(found.launches) == 1
    assert depends_on_target(found, HOPPER, {})


def test_a_script_whose_launch_another_target_refuses_is_executed_for_it():
    found = load(f"{SCALE}scale[(1,)](x, 3, BLOCK=32, num_ctas=2)\n", HOPPER)
    assert not depends_on_target(found, HOPPER, {})
    assert for_target(found, AMPERE, {}) is None


def test_what_a_launch_prints_is_printed_once(capfd):
    printing = "@triton.heuristics({'BLOCK': lambda _: print('chosen') or 64})\n@triton.jit"
    found = load(SCALE.replace("@triton.jit", printing).replace(", BLOCK=64", ""), HOPPER)
    assert not depends_on_target(found, HOPPER, {})
    for_target(found, AMPERE, {})
    assert found.output == "chosen\n"
    assert capfd.readouterr().out == ""
