"""Programs of Helion, whose compiler writes their Triton kernels."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.model import Diagnostic, Inspection, Request, Stage, to_plain
from explorer.pipeline.module import OWN_KERNELS, UNTUNED
from explorer.sandbox.protocol import decode_event

PROJECT = Path(__file__).parents[2]

PROGRAM = """\
import torch
import helion
import helion.language as hl


@helion.kernel(config=helion.Config(block_sizes=[64, 64]))
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile]
    return out


@helion.kernel(configs=[helion.Config(block_sizes=[8]), helion.Config(block_sizes=[16])])
def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = torch.nn.functional.softmax(x[tile, :], dim=1)
    return out


x = torch.randn(1024, 256, device="cuda", dtype=torch.float16)
softmax(add(x, x))
softmax(torch.randn(64, 512, device="cuda"))
"""
#: The names of the kernels, and the shapes of the blocks that they store.
KERNELS = {"_helion_add": "64x64", "_helion_softmax": "8x256", "_helion_softmax_2": "8x512"}

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def perform(tmp_path_factory):
    """Perform a request where Helion is installed, and return its events."""
    packages = tmp_path_factory.mktemp("packages") / "packages"
    subprocess.run(
        [sys.executable, PROJECT / "tools/install-packages", packages, "helion==1.5.1"], check=True
    )

    def perform(source, target, **request):
        text = json.dumps(to_plain(Request(source, target, "", **request)))
        done = subprocess.run(
            [sys.executable, "-m", "explorer.pipeline"],
            input=text.encode(),
            env={**os.environ, "PYTHONPATH": str(packages)},
            cwd=PROJECT,
            capture_output=True,
            check=True,
        )
        return [decode_event(line) for line in done.stdout.splitlines()]

    return perform


def one(events, kind):
    (found,) = [event for event in events if isinstance(event, kind)]
    return found


@pytest.mark.parametrize(
    ("target", "binary", "kernels"),
    [("cuda:90", "ptx", KERNELS), ("hip:gfx942", "amdgcn", ["_helion_softmax_2"])],
    ids=["cuda", "hip"],
)
def test_the_kernels_of_a_program_are_a_script_that_compiles(perform, target, binary, kernels):
    events = perform(PROGRAM, target)
    code = one(events, Inspection).output_code
    messages = [event.message for event in events if isinstance(event, Diagnostic)]
    assert (code.kernels, messages[0], events[-1].status) == (tuple(KERNELS), UNTUNED, "kernels_found")
    assert "# src[program.py:10]" in code.source
    assert "_helion_add[(64,)](x, y, out, num_warps=4" in code.source
    for kernel in kernels:
        events = perform(code.source, target, path=code.path, files=code.files, kernel=kernel)
        assert events[-1].status == "complete", events
        stages = {event.name: event.text for event in events if isinstance(event, Stage)}
        assert kernel in stages[binary]
        # The constants of one kernel are not the constants of another.
        assert re.search(r"tt\.store .*tensor<([\dx]+)x!", stages["ttir"])[1] == KERNELS[kernel]


OWN = """\
import triton
import triton.language as tl


@triton.jit
def twice(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2)


twice[(1,)](torch.ones(64, device="cuda"), BLOCK=64)
"""


def test_a_program_that_binds_a_kernel_itself_has_each_kernel_once(perform):
    bound = PROGRAM.replace(
        "softmax(add(x, x))", "add.bind((x, x)).set_config(helion.Config(block_sizes=[32, 32]))"
    )
    bound += "softmax.autotune((x,))\nsoftmax(x)\n"
    events = perform(bound, "cuda:90", task="inspect")
    assert one(events, Inspection).output_code.kernels == tuple(KERNELS)


def test_the_triton_kernels_of_a_program_are_found_without_helion_or_are_noted(perform):
    begin = PROGRAM.index("x = torch.randn")
    events = perform(PROGRAM[:begin] + OWN, "cuda:90", task="inspect")
    assert [kernel.name for kernel in one(events, Inspection).kernels] == ["twice"]
    events = perform(PROGRAM + OWN, "cuda:90", task="inspect")
    assert one(events, Inspection).output_code.kernels == tuple(KERNELS)
    assert OWN_KERNELS in [event.message for event in events if isinstance(event, Diagnostic)]


def test_an_error_of_helion_is_on_its_line(perform):
    broken = PROGRAM.replace("out[tile] = x[tile] + y[tile]", "out[tile] = x[tile] + missing")
    events = perform(broken, "cuda:90", task="inspect")
    (error,) = [event for event in events if isinstance(event, Diagnostic) and event.severity == "error"]
    assert "missing" in error.message
    assert error.line == PROGRAM[: PROGRAM.index("softmax(add")].count("\n") + 1


def test_a_program_of_helion_without_the_package_is_told_that_it_is_missing():
    done = subprocess.run(
        [sys.executable, "-m", "explorer.pipeline"],
        input=json.dumps(to_plain(Request(PROGRAM, "cuda:90", "", task="inspect"))).encode(),
        cwd=PROJECT,
        capture_output=True,
        check=True,
    )
    messages = [
        each.message for each in map(decode_event, done.stdout.splitlines()) if isinstance(each, Diagnostic)
    ]
    assert "The package helion is not installed here." in messages[0]
