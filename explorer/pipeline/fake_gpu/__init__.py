"""The fake GPU: user code executes against it, and its launches are recorded.

In: a target. Out: the launches, with their specializations. Nothing is computed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
import torch.library
from triton import runtime as triton_runtime

from explorer.model.hardware import Target
from explorer.pipeline.errors import NeedsValue
from explorer.pipeline.fake_gpu import (
    benchmarks,
    cuda,
    helion,
    inductor,
    runtime,
    torch_compile,
    torch_extras,
)
from explorer.pipeline.fake_gpu.driver import FakeDriver
from explorer.pipeline.fake_gpu.runtime import RecordedLaunch, Recorder, TooManyLaunches
from explorer.pipeline.fake_gpu.tensors import FakeGpuMode
from explorer.pipeline.fake_gpu.torch_compile import CompiledProgram
from explorer.pipeline.missing_modules import unused_compilers
from explorer.pipeline.targets import triton_target

__all__ = [
    "CompiledProgram",
    "NeedsValue",
    "RecordedLaunch",
    "Recorder",
    "TooManyLaunches",
    "default_device",
    "fake_gpu",
    "replaced",
]

_mode = FakeGpuMode()


@contextmanager
def fake_gpu(
    target: Target,
    assumed: Mapping[str, int] | None = None,
    *,
    uses_inductor: bool = False,
    program: CompiledProgram | None = None,
) -> Iterator[Recorder]:
    """Make PyTorch and Triton use a fake GPU of `target`, and record the launches.

    `assumed` are numbers that replace values read from tensors without content, by places.

    With `uses_inductor`, the user's code is output code of PyTorch's compiler, or uses its parts. With
    `program`, `torch.compile` compiles, and `program` gets its output code; otherwise its use is only noted.

    The fake driver of Triton remains active afterwards: kernels query it for the target while they compile.
    """
    _mode.given, _mode.assumed = assumed or {}, {}
    recorder = Recorder(
        triton_target(target), assumed=_mode.assumed, note_written=_mode.contents.note_written
    )
    if program is not None:
        recorder.limit = sys.maxsize  # The launches are read from the output code.
    if uses_inductor:
        inductor.import_inductor()
    triton_runtime.driver.set_active(FakeDriver(target, recorder))
    libraries: list[torch.library.Library] = []
    changes = [
        # PyTorch's compiler would trace the note. A program depends on its target anyway.
        *cuda.replacements(target, recorder.note_target_read if program is None else None),
        *torch_extras.replacements(_mode, libraries),
        *benchmarks.replacements(),
        *runtime.replacements(recorder),
        *inductor.replacements(recorder),
    ]
    if program is None:
        changes += torch_compile.note_use(recorder)
    compilers = unused_compilers() if program is None else nullcontext()
    with replaced(changes, cuda.additions()) as restore, compilers, _mode:
        if program is not None:
            prepare = partial(_prepare_compiler, restore, recorder, program, target)
            restore.enter_context(replaced(torch_compile.compile_with(program, prepare)))
            if program.uses_helion:
                prepare()
                restore.enter_context(replaced(helion.replacements(program, _mode)))
        restore.callback(_destroy, libraries)
        yield recorder


@contextmanager
def default_device(name: str) -> Iterator[None]:
    """Make a device the default device, on which factory functions make tensors."""
    torch.set_default_device(name)
    try:
        yield
    finally:
        torch.set_default_device(None)


@contextmanager
def replaced(
    changes: list[tuple[Any, str, Any]], additions: list[tuple[Any, str, Any]] | None = None
) -> Iterator[ExitStack]:
    """Replace attributes, given as (object, attribute, replacement), if they exist.

    `additions` are set in any case.
    """
    with ExitStack() as restore:
        for owner, name, value in additions or []:
            if not hasattr(owner, name):
                restore.callback(delattr, owner, name)
                setattr(owner, name, value)
        for owner, name, value in changes:
            if hasattr(owner, name):
                restore.callback(setattr, owner, name, getattr(owner, name))
                setattr(owner, name, value)
        yield restore


def _prepare_compiler(
    restore: ExitStack, recorder: Recorder, program: CompiledProgram, target: Target
) -> None:
    """Make PyTorch's compiler work on the fake GPU until `restore` ends."""
    inductor.import_inductor()
    torch_compile.import_compiler()
    changes = torch_compile.replacements(program, _mode, cuda.replacements(target))
    restore.enter_context(replaced([*inductor.replacements(recorder), *changes]))


def _destroy(libraries: list[torch.library.Library]) -> None:
    for library in reversed(libraries):
        library._destroy()
