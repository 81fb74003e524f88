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


@pytest.mark.slow
@pytest.mark.parametrize("crash", CRASHES)
def test_all_other_tests_run(tmp_path: Path, crash: str) -> None:
    """Groups of eight and of one in two processes. Each process crashes in the middle of its second group."""
    (tmp_path / "conftest.py").write_text(CONFIGURATION)
    groups = [(8, None), (8, None), (8, 2), (8, 3), (1, None), (1, None), (1, None), (8, None), (8, None)]
    for index, (tests, crashes_at) in enumerate(groups):
        text = GROUP.format(name=index, tests=tests, crashes_at=crashes_at, crash=CRASHES[crash])
        (tmp_path / f"test_{index}.py").write_text(text)
    options = ["-p", "xdist", "-p", "pytest_timeout", "-n2", "--dist=loadgroup", "--no-loadscope-reorder"]
    options += ["--timeout=2", "--timeout-method=thread"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-c", os.devnull, f"--rootdir={tmp_path}", tmp_path],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parent),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # starting the others takes seconds
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    summary = ended.stdout.splitlines()[-1]
    assert "2 failed, 49 passed" in summary, ended.stdout
