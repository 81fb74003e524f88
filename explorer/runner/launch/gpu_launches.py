"""Executes the user's code on a real GPU: its launches are compiled and made, and one is selected.

Source: triton/compiler/compiler.py, 3.6.0 and 3.9.0: every launch first calls
`CompiledKernel.launch_metadata`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import torch
from triton import knobs
from triton.compiler.compiler import CompiledKernel
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction

from explorer.pipeline.fake_gpu import RecordedLaunch, benchmarks, replaced, runtime, torch_extras
from explorer.pipeline.missing_modules import unused_compilers
from explorer.pipeline.stages.ptx import correct_line_information
from explorer.pipeline.user_source import user_line
from explorer.runner.launch import operators
from explorer.runner.launch.select_launch import LaunchSelector, SelectedLaunch, WantedLaunch
from explorer.runner.launch.uninitialized_memory import FilledMemoryMode


class GpuLaunchSelector(LaunchSelector):
    """Synchronizes after each call, so that errors on the GPU are reported on the line of the launch.

    `compiled` has the kernels of this process by identity. They are kept so that no other object gets the
    same identity.
    """

    compiled: ClassVar[dict[int, tuple[Any, RecordedLaunch]]] = {}

    def __init__(self, wanted: WantedLaunch, on_selected: Callable[[SelectedLaunch], None]) -> None:
        super().__init__(driver.active.get_current_target(), wanted, on_selected)

    def finish_call(self) -> None:
        if not torch.cuda.is_current_stream_capturing():
            torch.cuda.synchronize()
        super().finish_call()


@contextmanager
def launching_on_gpu(
    wanted: WantedLaunch, on_selected: Callable[[SelectedLaunch], None]
) -> Iterator[LaunchSelector]:
    """Make the user's launches on the GPU. Call `on_selected` with the wanted launch before it is made."""
    selector = GpuLaunchSelector(wanted, on_selected)
    compile_kernel, launch_metadata = JITFunction._do_compile, CompiledKernel.launch_metadata

    def do_compile(
        self: Any,
        key: Any,
        signature: Any,
        device: Any,
        constexprs: Any,
        options: Any,
        attrs: Any,
        warmup: Any,
    ) -> Any:
        bound = runtime.bound_arguments(sys._getframe(1))
        recorded = selector.record(self, key, signature, constexprs, attrs, dict(options.__dict__), bound)
        compiled = compile_kernel(self, key, signature, device, constexprs, options, attrs, warmup)
        selector.compiled[id(compiled)] = (compiled, recorded._launch)
        return compiled

    def note_launch(self: Any, grid: Any, stream: Any, *arguments: Any) -> Any:
        _, launch = selector.compiled.get(id(self), (None, None))
        if launch is not None:
            if launch.grid is None:
                launch.grid = tuple(int(size) for size in grid)
                launch.line = user_line() or launch.line
            selector.launching(launch, grid, arguments, self)
        return launch_metadata(self, grid, stream, *arguments)

    changes = [
        *operators.collected(),
        (knobs.runtime, "interpret", False),
        (JITFunction, "_do_compile", do_compile),
        (CompiledKernel, "launch_metadata", note_launch),
        *benchmarks.replacements(),
        *runtime.calls(selector),
        *torch_extras.uncompiled(),
    ]
    with replaced(changes), same_binaries(), unused_compilers(), FilledMemoryMode():
        yield selector


def select_again(selected: SelectedLaunch, wanted: WantedLaunch) -> SelectedLaunch:
    """Make a selected launch again, with other settings. Return the launch that this makes."""
    with launching_on_gpu(wanted, lambda _taken: None) as selector:
        return selector.make_again(selected)


@contextmanager
def same_binaries() -> Iterator[None]:
    """Assemble kernels like `pipeline`, so that the binaries match the compilation."""
    from triton.backends.nvidia.compiler import CUDABackend

    make_cubin = CUDABackend.make_cubin

    def make_corrected(self: Any, src: str, *rest: Any, **options: Any) -> Any:
        return make_cubin(self, correct_line_information(src), *rest, **options)

    with replaced([(CUDABackend, "make_cubin", make_corrected)]):
        yield
