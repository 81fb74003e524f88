"""The hints of the Roofline pane: how to make a kernel faster, with the numbers that support it.

A hint is one file here, with a function that takes a `Case` and returns the hint or None, and one line in
`_HINTS`. Every hint has evidence and states its cost. A hint that measured times contradict is left out. The
hints with the largest possible gain come first.
"""

from __future__ import annotations

from collections.abc import Callable

from explorer.analysis.roofline.documents import Hint
from explorer.analysis.roofline.hints import (
    bank_conflicts,
    barriers,
    bytes_in_flight,
    cheaper_type,
    configurations,
    idle_multiprocessors,
    instructions,
    large_tiles,
    missing_tensor_cores,
    pipeline_stages,
    reuse,
    scattered,
    spills,
)
from explorer.analysis.roofline.hints.case import Case

_HINTS: tuple[Callable[[Case], Hint | None], ...] = (
    configurations.find,
    scattered.find,
    missing_tensor_cores.find,
    spills.find,
    bank_conflicts.find,
    barriers.find,
    pipeline_stages.find,
    bytes_in_flight.find,
    large_tiles.find,
    idle_multiprocessors.find,
    reuse.find,
    instructions.find,
    cheaper_type.find,
)
_MOST = 3


def hints(case: Case) -> list[Hint]:
    """Return the hints with the largest possible gain; hints of unknown gain come last."""
    found = [hint for find in _HINTS if (hint := find(case)) is not None]
    return sorted(found, key=lambda each: -(each.gain_share or 0.0))[:_MOST]
