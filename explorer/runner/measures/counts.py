"""Counts the bytes, sectors and operations of the launch in the interpreter."""

from __future__ import annotations

from explorer.pipeline.errors import user_error
from explorer.runner.launch.captured_launch import InterpretedLaunch
from explorer.runner.measures.context import MeasureContext


def measure(context: MeasureContext) -> None:
    """Emit the counts of the first launch."""
    if not isinstance(context.launch, InterpretedLaunch):
        raise user_error("A GPU does not have the measure counts.", hint="Run the kernel in the interpreter.")
    context.emit_measurement(context.launch.counter.counts(context.launch.interpretation))
