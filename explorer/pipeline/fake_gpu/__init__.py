"""A GPU that is not there: user code runs against it, and what it launches is recorded.

In: a target. Out: the launches, with the specialisation that each leads to. Nothing is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
import torch.library
from triton import runtime as triton_runtime

from explorer.pipeline.fake_gpu import benchmarks, cuda, runtime, torch_extras
from explorer.pipeline.fake_gpu.driver import FakeDriver
from explorer.pipeline.fake_gpu.runtime import Call, RecordedLaunch, Recorder, TooManyLaunches
from explorer.pipeline.fake_gpu.tensors import FakeGpuMode
from explorer.pipeline.fake_gpu.unknown import NeedsValue
from explorer.pipeline.stand_ins import stand_ins
from explorer.pipeline.targets import Target

__all__ = ["Call", "NeedsValue", "RecordedLaunch", "Recorder", "TooManyLaunches", "fake_gpu", "replaced"]

_mode = FakeGpuMode()


@contextmanager
def fake_gpu(target: Target) -> Iterator[Recorder]:
    """Make PyTorch and Triton believe in a GPU of `target`, and record what is launched.

    Triton's driver stays the fake one afterwards: kernels ask it for the target while they compile.
    """
    recorder = Recorder(target.for_triton())
    triton_runtime.driver.set_active(FakeDriver(target))
    libraries: list[torch.library.Library] = []
    changes = [
        *cuda.replacements(target),
        *torch_extras.replacements(_mode, libraries),
        *benchmarks.replacements(),
        *runtime.replacements(recorder),
    ]
    with replaced(changes) as restore, stand_ins(), _mode:
        restore.callback(_destroy, libraries)
        yield recorder


@contextmanager
def replaced(changes: list[tuple[Any, str, Any]]) -> Iterator[ExitStack]:
    """Replace attributes, given as (object, attribute, replacement), where there are such."""
    with ExitStack() as restore:
        for owner, name, value in changes:
            if hasattr(owner, name):
                restore.callback(setattr, owner, name, getattr(owner, name))
                setattr(owner, name, value)
        yield restore


def _destroy(libraries: list[torch.library.Library]) -> None:
    for library in reversed(libraries):
        library._destroy()
