"""A small kernel, and how tests run commands: in a process of their own."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest
from served import Server

from explorer.settings import Settings

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


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A running server."""
    folder = tmp_path_factory.mktemp("data")
    server = Server(folder, tritons_dir=Settings().tritons_dir)
    assert json.loads(wait_for(folder / "server.json"))["url"] == server.url
    yield Served(folder, server.url)
    server.close()
    assert not (folder / "server.json").exists()


@dataclass(frozen=True)
class Served:
    """A running server: its data folder, and its address."""

    folder: Path
    url: str

    @property
    def is_asked(self):
        """The number of compilations that the server was asked for."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=30) as response:
            text = response.read().decode()
        counts = re.findall(r"^triton_explorer_compilations_answered_total\{.*\} (\S+)$", text, re.M)
        return sum(map(float, counts))


def wait_for(file):
    deadline = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < deadline, f"{file} was not written"
        time.sleep(0.05)
    return file.read_text()


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
