"""Starts a program whose kernels are captured: the environment that makes every process of it record."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

#: The folder whose `sitecustomize` Python imports when a process starts.
STARTUP = Path(__file__).parent / "startup"


def variables(folder: Path, target: str, limit_bytes: int, python_path: str) -> dict[str, str]:
    """Return the variables of the environment for a capture. `python_path` is the present PYTHONPATH."""
    return {
        "TRITON_EXPLORER_CAPTURE": str(folder.absolute()),
        "TRITON_EXPLORER_CAPTURE_LIMIT": str(limit_bytes),
        **({"TRITON_EXPLORER_CAPTURE_TARGET": target} if target else {}),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(STARTUP), python_path])),
    }


def execute(command: Sequence[str], folder: Path, target: str, limit_bytes: int) -> None:
    """Replace this process by the program, which keeps its input, output, signals and exit status.

    Raises:
        OSError: it cannot be started.
    """
    present = variables(folder, target, limit_bytes, os.environ.get("PYTHONPATH", ""))
    os.execvpe(command[0], list(command), {**os.environ, **present})  # noqa: S606  what the user runs
