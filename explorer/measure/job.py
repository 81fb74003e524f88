"""One run, from a request to its last event; and what a process does once so that runs start fast.

The entry point of the sandboxes for the interpreter and for GPUs.
"""

from __future__ import annotations

import os
import platform

from explorer.measurements import Environment
from explorer.model import Diagnostic, Measure, Request, Run
from explorer.pipeline.targets import find_target
from explorer.pipeline.work import Emit, internal_error, perform_work

#: What the interpreter can find out.
INTERPRETED_MEASURES: tuple[Measure, ...] = ("check", "counts")


def perform(request: Request, emit: Emit) -> None:
    """Do one run and tell of it by events, the last of which is `Done`."""
    perform_work(lambda told: _perform(request, told), emit, "The run")


def warm_up() -> None:
    """Import what runs need. Leaves one thread, and the GPU untouched."""
    import torch
    import triton
    import triton.testing
    import triton.tools.tensor_descriptor  # noqa: F401

    from explorer.measure import capture, measures  # noqa: F401

    assert not torch.cuda.is_initialized(), triton.__version__


def _perform(request: Request, emit: Emit) -> None:
    from explorer.measure.bench import Bench
    from explorer.measure.capture import capture
    from explorer.measure.measures import MEASURES

    run = request.run
    assert run is not None
    target = find_target(request.target)
    # What Triton 3.9 does by default, said aloud, so that it does not warn of what 3.10 will do.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    wanted = [measure for measure in MEASURES if measure in run.measures]
    bench = Bench(request, run, emit, steps=len(wanted) + 1)
    bench.progress("Running the script")
    bench.launch = capture(request, run, target, emit)
    bench.tell(bench.launch.facts)
    bench.tell(_environment(run, bench))
    for measure in wanted:
        bench.step += 1
        _measure(measure, bench)
    bench.step = bench.steps
    bench.progress("Done")
