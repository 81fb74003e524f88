"""The entry point of a sandbox for a single job: it imports the modules that jobs need, and compiles nothing.

The warm-up of `explorer.pipeline.job` takes longer than the job that it would make faster.
"""

from __future__ import annotations

import importlib

from explorer.pipeline.job import perform

__all__ = ["perform", "warm_up"]

_MODULES = ("torch", "triton", "triton.language", "explorer.pipeline.compile", "explorer.pipeline.module")


def warm_up() -> None:
    """Import the modules that every job would import in its own process."""
    for name in _MODULES:
        importlib.import_module(name)
