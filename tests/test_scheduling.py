"""A process of the tests that crashes or hangs costs one test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFIGURATION = """\
import pytest
from scheduling import CrashSafeScheduling

def pytest_xdist_make_scheduler(config, log):
    return CrashSafeScheduling(config, log)
"""
GROUP = """\
import ctypes, os, pytest

pytestmark = pytest.mark.xdist_group("{name}")

@pytest.mark.parametrize("number", range({tests}))
def test_it(number):
    if number == {crashes_at}:
        {crash}
"""
CRASHES = {"aborts": "os.abort()", "hangs": "ctypes.CDLL(None).sleep(60)"}


def run(folder: Path, groups: list[tuple[int, int | None]], crash: str, *more: str) -> str:
    """Run groups of tests in two processes, and return the output. A group is its number of tests and the
    test that executes `crash`, if any. `more` are further options of pytest.
    """
    (folder / "conftest.py").write_text(CONFIGURATION)
    for index, (tests, crashes_at) in enumerate(groups):
        text = GROUP.format(name=index, tests=tests, crashes_at=crashes_at, crash=crash)
        (folder / f"test_{index}.py").write_text(text)
    options = ["-p", "xdist", "-p", "pytest_timeout", "-n2", "--dist=loadgroup", "--no-loadscope-reorder"]
    options += ["--timeout=2", "--timeout-method=thread", *more]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-c", os.devnull, f"--rootdir={folder}", folder],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parent),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # starting the others takes seconds
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    return ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("crash", CRASHES)
def test_all_other_tests_run(tmp_path: Path, crash: str) -> None:
    """Groups of eight and of one in two processes. Each process crashes in the middle of its second group."""
    groups = [(8, None), (8, None), (8, 2), (8, 3), (1, None), (1, None), (1, None), (8, None), (8, None)]
    printed = run(tmp_path, groups, CRASHES[crash])
    assert "2 failed, 49 passed" in printed.splitlines()[-1], printed


@pytest.mark.slow
def test_a_run_ends_after_the_most_failures(tmp_path: Path) -> None:
    """While a test of one process fails, the other process is in the middle of a test."""
    failure = 'pytest.fail() if __name__ == "test_0" else ctypes.CDLL(None).sleep(1)'
    printed = run(tmp_path, [(1, 0), (1, 0), *[(1, None)] * 20], failure, "--maxfail=1")
    assert "1 failed" in printed.splitlines()[-1], printed
