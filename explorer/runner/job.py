"""One run, from a request to its last event, and the warm-up that makes runs start fast.

This is the entry point of the jails for the interpreter and for GPUs.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.model import DeviceKind, Diagnostic, Event, Measure, Outcome, Progress, Request, Run
from explorer.model.hardware import find_target
from explorer.model.measurements import MEASURES, measures_of
from explorer.pipeline.error_events import Emit, perform_work
from explorer.pipeline.errors import UserError
from explorer.pipeline.scopes import marked_lines, scopes_ignored_by_interpreter

if TYPE_CHECKING:
    from explorer.runner.measures.context import Launch, MeasureContext

#: Uses what scripts use often.
_WARM_UP_SOURCE = """
import torch
import triton
import triton.language as tl


@triton.jit
def warm_up_kernel(x_ptr, y_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < size, other=-float("inf"))
    tl.store(y_ptr + offsets, x / tl.sum(tl.exp(x)), mask=offsets < size)


def reference(x):
    return x / x.exp().sum()


x = torch.randn(60, device="cuda")
y = torch.empty_like(x)
warm_up_kernel[(1,)](x, y, 60, BLOCK=64)
torch.testing.assert_close(y, reference(x), rtol=1e-3, atol=1e-3)
"""


def perform(request: Request, emit: Emit) -> None:
    """Execute one run and emit its events, the last of which is `Done`."""
    perform_work(lambda emit_once: _perform(request, emit_once), emit, "The run")


def warm_up() -> None:
    """Import what runs need. Afterwards there is one thread, and the GPU has not been initialized."""
    import torch

    # A small run in the interpreter imports the modules that all runs need, also runs on GPUs.
    run = Run("interpreter", measures=measures_of("interpreter"))
    perform(Request(_WARM_UP_SOURCE, "cuda:90", "", task="run", run=run), _expect_success)
    if _has_gpu():
        _prepare_gpu()
    assert not torch.cuda.is_initialized()


def begin_cuda() -> None:
    """Start CUDA in this process, which can no longer be forked then. No memory of the GPU is used."""
    import ctypes

    ctypes.CDLL("libcuda.so.1").cuInit(0)


def get_ready() -> None:
    """Start the profiler of the next run, if this machine has one, before the request arrives."""
    if not _has_gpu():
        return
    from explorer.runner.profilers.metrics import NoCounters
    from explorer.runner.profilers.nsight_compute import waiting_profiler

    with contextlib.suppress(NoCounters, OSError):  # The measure reports it.
        waiting_profiler()


def _prepare_gpu() -> None:
    """Do the slow work before the first launch on a GPU, without using a GPU: a fork is still possible."""
    from triton.backends.nvidia.driver import CudaUtils
    from triton.runtime.cache import triton_key

    import explorer.runner.launch.capture
    import explorer.runner.measures.time  # noqa: F401  a job imports it again, at once

    triton_key()  # the hash of Triton's own files, which Triton keeps
    CudaUtils()  # builds the library by which Triton calls the driver; the cache of a job would be empty
    CudaUtils.__init__ = lambda _self: None  # It has one instance, and would build the library again.


def _has_gpu() -> bool:
    return Path("/dev/nvidiactl").exists()


def prepare(request: Request, emit: Emit, steps: int = 1) -> MeasureContext:
    """Capture the launch of `request`, the first of `steps`. Return the context for the measures.

    Raises:
        UserError: there is no such launch, or the launch fails.
    """
    from explorer.runner.launch.capture import capture
    from explorer.runner.measures.context import MeasureContext

    run = request.run
    assert run is not None
    target = find_target(request.target)
    # The default of Triton 3.9. Setting it explicitly avoids a warning about a change in 3.10.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

    def progress(text: str, done: float) -> None:
        emit(Progress(round(1000 * min(done, 1.0)), 1000 * steps, text))

    progress("Running the script", 0.0)
    context = MeasureContext(request, run, capture(request, run, target, emit, progress), emit, steps=steps)
    if run.inputs:

        def at_sizes(sizes: dict[str, int]) -> Launch:
            other = replace(run, sizes={**run.sizes, **sizes})
            return capture(replace(request, run=other), other, target, _ignore, progress)

        context.at_sizes = at_sizes
    return context


def _perform(request: Request, emit: Emit) -> Outcome:
    from explorer.runner.environment import describe_environment
    from explorer.runner.measures import in_order, measure_function

    assert request.run is not None
    asked = in_order(request.run.measures)
    context = prepare(request, emit, steps=len(asked) + 1)
    context.emit_measurement(context.launch.facts)
    context.emit_measurement(describe_environment(request.run, context.launch))
    if request.run.device == "interpreter" and (lines := marked_lines(request.source)):
        emit(scopes_ignored_by_interpreter(lines))
    for measure in asked:
        context.step += 1
        if request.run.device not in MEASURES[measure].devices:
            emit(_not_measured_here(measure, request.run.device))
            continue
        try:
            measure_function(measure)(context)
        except Exception as error:  # A measure that fails does not affect the others.
            _emit_failure(measure, error, context)
    context.emit_files()
    context.step = context.steps
    context.report_progress("Done")
    return "complete"


def _not_measured_here(measure: Measure, device: DeviceKind) -> Diagnostic:
    if device == "interpreter":
        return Diagnostic(
            "note", f"The interpreter does not have the measure {measure}.", hint="Run it on a GPU."
        )
    return Diagnostic(
        "note", f"A GPU does not have the measure {measure}.", hint="Run the kernel in the interpreter."
    )


def _emit_failure(measure: Measure, error: Exception, context: MeasureContext) -> None:
    """Emit the diagnostic of a measure that failed. Raise if the GPU is unusable for the other measures."""
    from explorer.pipeline.script import describe, diagnostic_at
    from explorer.runner.error_hints import explain, is_fatal

    if isinstance(error, UserError):
        found = error.diagnostic
    else:
        place = diagnostic_at(error)
        found = replace(place, message=describe(error), line=place.line or context.launch.facts.line)
    found = explain(found, context.run.device)
    found = replace(found, stage=found.stage or measure)
    if is_fatal(error):
        raise UserError(found) from error
    context.emit(found)


def _expect_success(event: Event) -> None:
    """Raise if the warm-up emitted an error, so that a broken installation does not look healthy."""
    if isinstance(event, Diagnostic) and event.severity == "error":
        raise RuntimeError(f"Kernels cannot be run on this machine: {event.message}")


def _ignore(_event: Event) -> None:
    """Discard an event."""
