"""One run, from a request to its last event; and what a process does once so that runs start fast.

The entry point of the sandboxes for the interpreter and for GPUs.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from explorer.model import Diagnostic, Event, Measure, Progress, Request, Run
from explorer.pipeline.errors import UserError
from explorer.pipeline.scopes import marked_lines, passed_over
from explorer.pipeline.targets import find_target
from explorer.pipeline.work import Emit, perform_work

if TYPE_CHECKING:
    from explorer.measure.bench import Bench, Launch

#: What the interpreter can find out.
INTERPRETED_MEASURES: tuple[Measure, ...] = ("check", "counts")

#: Uses once what scripts use often.
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
    """Do one run and tell of it by events, the last of which is `Done`."""
    perform_work(lambda told: _perform(request, told), emit, "The run")


def warm_up() -> None:
    """Import what runs need. Leaves one thread, and the GPU untouched."""
    import torch

    # A small run in the interpreter, for GPUs too: it imports what all runs need.
    run = Run("interpreter", measures=INTERPRETED_MEASURES)
    perform(Request(_WARM_UP_SOURCE, "cuda:90", "", task="run", run=run), _expect_success)
    assert not torch.cuda.is_initialized()


def prepare(request: Request, emit: Emit, steps: int = 1) -> Bench:
    """Take the launch of `request`, the first of `steps`; return it ready to be measured.

    Raises:
        UserError: there is none to take, or it fails.
    """
    from explorer.measure.bench import Bench
    from explorer.measure.capture import capture

    run = request.run
    assert run is not None
    target = find_target(request.target)
    # What Triton 3.9 does by default, said aloud, so that it does not warn of what 3.10 will do.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

    def progress(text: str, done: float) -> None:
        emit(Progress(round(1000 * min(done, 1.0)), 1000 * steps, text))

    progress("Running the script", 0.0)
    bench = Bench(request, run, capture(request, run, target, emit, progress), emit, steps=steps)
    if run.inputs:

        def at_sizes(sizes: dict[str, int]) -> Launch:
            other = replace(run, sizes={**run.sizes, **sizes})
            return capture(replace(request, run=other), other, target, _ignore, progress)

        bench.at_sizes = at_sizes
    return bench


def _perform(request: Request, emit: Emit) -> None:
    from explorer.measure.environment import describe_environment
    from explorer.measure.measures import MEASURES

    assert request.run is not None
    asked = [measure for measure in MEASURES if measure in request.run.measures]
    bench = prepare(request, emit, steps=len(asked) + 1)
    bench.tell(bench.launch.facts)
    bench.tell(describe_environment(request.run, bench.launch))
    if request.run.device == "interpreter" and (lines := marked_lines(request.source)):
        emit(passed_over(lines))
    for measure in asked:
        bench.step += 1
        if request.run.device == "interpreter" and measure not in INTERPRETED_MEASURES:
            emit(Diagnostic("note", f"The interpreter does not measure: {measure}.", hint="Run it on a GPU."))
            continue
        try:
            MEASURES[measure](bench)
        except Exception as error:  # one measure that fails leaves the others alone
            _tell_failure(measure, error, bench)
    bench.tell_files()
    bench.step = bench.steps
    bench.progress("Done")


def _tell_failure(measure: Measure, error: Exception, bench: Bench) -> None:
    """Tell why a measure has failed. Raises what leaves the GPU unusable for the others."""
    from explorer.measure.troubles import explain, is_fatal
    from explorer.pipeline.script import describe, place_of

    if isinstance(error, UserError):
        found = error.diagnostic
    else:
        place = place_of(error)
        found = replace(place, message=describe(error), line=place.line or bench.launch.facts.line)
    found = explain(found, bench.run.device)
    found = replace(found, stage=found.stage or measure)
    if is_fatal(error):
        raise UserError(found) from error
    bench.emit(found)


def _expect_success(event: Event) -> None:
    """Raise what a warm-up has found wrong: an installation that cannot run must not look healthy."""
    if isinstance(event, Diagnostic) and event.severity == "error":
        raise RuntimeError(f"Kernels do not run here: {event.message}")


def _ignore(_event: Event) -> None:
    """Tell nobody."""
