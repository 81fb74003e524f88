"""A small kernel, and a function that runs a command in a separate process."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: With the modules of the tests.
PYTHONPATH = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)
"""
SIGNATURE = "*fp32:16, *fp32:16, i32:16, 256"


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL)
    return path


def run(*arguments, server="none", program="explorer", **options):
    command = [sys.executable, "-m", program, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH, "TRITON_EXPLORER_SERVER": server}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=environment, **options
    )


@pytest.fixture
def ask(server):
    """Run a command that asks the server: it prints the same as a command without a server, and sooner."""
    return functools.partial(run, server=server.url)
