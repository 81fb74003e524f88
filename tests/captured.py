"""Captures of programs: fixtures of several folders."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from explorer.capture.read import CapturedKernel, CaptureReader

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs/capture.md").read_text(encoding="utf-8")


def documented_program() -> str:
    """Return the program in the documentation."""
    found = re.search(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found is not None
    return found[1]


@dataclass(frozen=True)
class Ended:
    """A program that was captured, and its folder."""

    folder: Path
    status: int
    output: str
    errors: str


Capture = Callable[..., Ended]


@pytest.fixture(scope="session")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """Return a function that captures a program under the fake GPU."""

    def run(
        program: str,
        *options: str,
        folder: Path | None = None,
        cache: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Ended:
        place = tmp_path_factory.mktemp("program")
        (place / "program.py").write_text(program, encoding="utf-8")
        folder = folder or place / "kernels"
        command = [sys.executable, "-m", "explorer", "capture", "--output", str(folder)]
        command += ["--target", "cuda:90", *options, "--", sys.executable, "program.py"]
        done = subprocess.run(
            command,
            cwd=place,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "TRITON_CACHE_DIR": str(cache or place / "cache"),
                "TRITON_DEFAULT_FP_FUSION": "1",
                **(environment or {}),
            },
            capture_output=True,
            text=True,
            timeout=300,
        )
        return Ended(folder, done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def captured(capture: Capture) -> Ended:
    """The capture of the program in the documentation."""
    ended = capture(documented_program())
    assert ended.status == 0, ended.errors
    return ended


@pytest.fixture(scope="session")
def cache(captured: Ended) -> Path:
    """Return the folder of Triton's cache of `captured`."""
    return captured.folder.parent / "cache"


def kernels_of(folder: Path) -> list[CapturedKernel]:
    """Return the kernels of a capture, none of which is damaged."""
    kernels = []
    for kernel in CaptureReader(folder).kernels():
        assert isinstance(kernel, CapturedKernel), kernel
        kernels.append(kernel)
    return kernels
