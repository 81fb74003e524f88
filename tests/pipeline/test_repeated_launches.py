"""A script that does not ask for the GPU makes the same launches on another GPU of the vendor."""

from pathlib import Path

import pytest

from explorer.model.hardware import find_target
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
def test_a_script_for_another_target_is_as_if_executed_for_it(name, target, other):
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


def test_the_options_that_another_target_refuses_end_the_launches_on_their_line():
    source = f"{SCALE}scale[(1,)](x, 3, BLOCK=32, num_ctas=2)\nscale[(1,)](x, 3, BLOCK=16)\n"
    found = load(source, HOPPER)
    assert not depends_on_target(found, HOPPER, {})
    other, executed = for_target(found, AMPERE, {}), load(source, AMPERE)
    assert contents(other) == contents(executed)
    assert [(each.severity, each.line) for each in other.diagnostics] == [("error", 11)]


def test_what_a_launch_prints_is_printed_once(capfd):
    printing = "@triton.heuristics({'BLOCK': lambda _: print('chosen') or 64})\n@triton.jit"
    found = load(SCALE.replace("@triton.jit", printing).replace(", BLOCK=64", ""), HOPPER)
    assert not depends_on_target(found, HOPPER, {})
    for_target(found, AMPERE, {})
    assert found.output == "chosen\n"
    assert capfd.readouterr().out == ""
