"""What the interpreter has counted."""

from __future__ import annotations

from explorer.measure.bench import Bench
from explorer.measure.captured import InterpretedLaunch
from explorer.pipeline.errors import user_error


def measure(bench: Bench) -> None:
    """Tell what the first launch has asked for."""
    if not isinstance(bench.launch, InterpretedLaunch):
        raise user_error("Only the interpreter counts.", hint="Run the kernel in the interpreter.")
    bench.tell(bench.launch.counter.counts(bench.launch.interpretation))
