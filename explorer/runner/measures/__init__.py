"""The measures that a run can request, one file each, named after the measure.

Each has a function `measure(context)`, which emits the documents that its entry in
`explorer.model.measurements` names, or raises `UserError` with the reason why it cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from explorer.model import Measure
from explorer.model.measurements import MEASURES, PHASES
from explorer.runner.measures.context import MeasureContext


def measure_function(name: Measure) -> Callable[[MeasureContext], None]:
    """Return the function that performs a measure; `name` is one of `MEASURES`."""
    assert name in MEASURES
    function: Callable[[MeasureContext], None] = import_module(f"{__name__}.{name}").measure
    return function


def in_order(names: Iterable[Measure]) -> list[Measure]:
    """Return the measures in the order in which a run performs them; the order of `names` does not matter."""
    asked = set(names)
    return sorted((name for name in MEASURES if name in asked), key=_phase)


def _phase(name: Measure) -> int:
    return PHASES.index(MEASURES[name].phase)
