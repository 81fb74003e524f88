"""The user's code on a real GPU: its launches are compiled and made, and the wanted one is taken.

Source: triton/compiler/compiler.py, 3.6.0 and 3.9.0: every launch first asks
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

from explorer.measure import operators
from explorer.measure.taking import Taken, Taker, Wanted
from explorer.measure.unset_memory import FilledMemoryMode
from explorer.pipeline.fake_gpu import RecordedLaunch, benchmarks, replaced, runtime, torch_extras
from explorer.pipeline.stages.ptx import correct_line_information
from explorer.pipeline.stand_ins import stand_ins
from explorer.pipeline.user_source import user_line


class GpuTaker(Taker):
    """Waits for each call, so that what goes wrong on the GPU is told on the line of the launch.

    `compiled` are the kernels of this process by identity, kept so that no other gets the identity of one.
    """

    compiled: ClassVar[dict[int, tuple[Any, RecordedLaunch]]] = {}

    def __init__(self, wanted: Wanted, take: Callable[[Taken], None]) -> None:
        super().__init__(driver.active.get_current_target(), wanted, take)

    def finish_call(self) -> None:
        if not torch.cuda.is_current_stream_capturing():
            torch.cuda.synchronize()
        super().finish_call()


@contextmanager
def launching_on_gpu(wanted: Wanted, take: Callable[[Taken], None]) -> Iterator[Taker]:
    """Let the user's code launch on the GPU; call `take` with the wanted launch before it is made."""
    taker = GpuTaker(wanted, take)
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
        recorded = taker.record(self, key, signature, constexprs, attrs, dict(options.__dict__), bound)
        compiled = compile_kernel(self, key, signature, device, constexprs, options, attrs, warmup)
        taker.compiled[id(compiled)] = (compiled, recorded.launch)
        return compiled

    def note_launch(self: Any, grid: Any, stream: Any, *arguments: Any) -> Any:
        _, launch = taker.compiled.get(id(self), (None, None))
        if launch is not None:
            if launch.grid is None:
                launch.grid = tuple(int(size) for size in grid)
                launch.line = user_line() or launch.line
            taker.launching(launch, grid, arguments, self)
        return launch_metadata(self, grid, stream, *arguments)

    changes = [
        *operators.collected(),
        (knobs.runtime, "interpret", False),
        (JITFunction, "_do_compile", do_compile),
        (CompiledKernel, "launch_metadata", note_launch),
        *benchmarks.replacements(),
        *runtime.calls(taker),
        *torch_extras.uncompiled(),
    ]
    with replaced(changes), same_binaries(), stand_ins(), FilledMemoryMode():
        yield taker


def take_again(taken: Taken, wanted: Wanted) -> Taken:
    """Make a launch, taken before, in another way; return what that makes of it."""
    with launching_on_gpu(wanted, lambda _taken: None) as taker:
        return taker.make_again(taken)


@contextmanager
def same_binaries() -> Iterator[None]:
    """Assemble what `pipeline` assembles: kernels get the very binary that the compilation shows."""
    from triton.backends.nvidia.compiler import CUDABackend

    make_cubin = CUDABackend.make_cubin

    def make_corrected(self: Any, src: str, *rest: Any, **options: Any) -> Any:
        return make_cubin(self, correct_line_information(src), *rest, **options)

    with replaced([(CUDABackend, "make_cubin", make_corrected)]):
        yield
