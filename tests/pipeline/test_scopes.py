"""Test that kernels that mark scopes for a timeline compile like any other kernel."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tritons import TRITONS

from explorer.model import Request, to_plain
from explorer.pipeline.scopes import marked_lines
from explorer.sandbox.versions import installed_versions

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
KERNEL = """\
import torch
import triton
import triton.language as tl
{imports}

@triton.jit
def kernel(x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    {enter}
    values = tl.load(x + offsets)
    {exit}
    {around}
        tl.store(y + offsets, 2 * values)

x = torch.randn(8192, device="cuda")
kernel[(8,)](x, torch.empty_like(x), BLOCK=1024)
"""
PLAIN = KERNEL.format(imports="\n\n", enter="", exit="", around="if True:")
MARKED = KERNEL.format(
    imports='import triton.profiler.language as pl\n\npl.enable_semantic("triton")',
    enter='pl.enter_scope("load")',
    exit='pl.exit_scope("load")',
    around='with pl.scope("store"):',
)


@pytest.fixture(scope="module", params=TRITONS)
def compiled(request, tmp_path_factory):
    """A function from a source to the events of its compilation."""
    paths = [str(path) for path in (installed_versions()[request.param], ROOT) if path is not None]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("cache")),
    }

    def told(source, target):
        done = subprocess.run(
            [sys.executable, "-m", "explorer.pipeline"],
            input=json.dumps(to_plain(Request(source, target, ""))),
            capture_output=True,
            text=True,
            env=environment,
            cwd=ROOT,
        )
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return told


def stages(events):
    return {event["name"]: event["text"] for event in events if event["event"] == "stage"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("cuda:90", ["ast", "ttir", "ttgir", "llir", "ptx", "sass"]),
        ("hip:gfx942", ["ast", "ttir", "ttgir", "llir", "amdgcn"]),
    ],
)
def test_a_kernel_that_marks_scopes_compiles_to_what_it_is_without_them(compiled, target, names):
    marked, plain = compiled(MARKED, target), compiled(PLAIN, target)
    assert (marked[-1]["status"], plain[-1]["status"]) == ("complete", "complete")
    assert list(stages(marked)) == names
    assert stages(marked)["ttgir"] == stages(plain)["ttgir"]
    (note,) = [event for event in marked if event["event"] == "diagnostic"]
    assert note["severity"] == "note"
    assert MARKED.splitlines()[note["line"] - 1].strip() == 'pl.enter_scope("load")'
    assert "do not contain the scopes" in note["message"] and "GPU" in note["hint"]
    assert not [event for event in plain if event["event"] == "diagnostic"]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import triton.profiler.language as pl\nwith pl.scope('x'): pass", [2]),
        (
            "from triton.profiler import language\n\nlanguage.enter_scope('x')\nlanguage.exit_scope('x')",
            [3, 4],
        ),
        ("from triton.profiler.language import enter_scope as enter\nenter('x')", [2]),
        ("import triton.profiler.language\ntriton.profiler.language.scope('x')", [2]),
        ("import triton.profiler.language as pl\nevent = pl.allocate_event('x')", [2]),
        ("import triton.profiler.language as pl\npl.enable_semantic('triton')", []),
        ("import triton.profiler as proton\nwith proton.scope('x'): pass", []),
        ("scope(1)\nmarks[0].scope('x')", []),
    ],
)
def test_marks_of_scopes_in_kernels_are_told_from_other_calls(source, lines):
    assert marked_lines(source) == lines
