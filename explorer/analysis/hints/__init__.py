"""What would make a kernel faster, each with the numbers that speak for it.

A hint is one file here, with a function from a `Case` to its hint or None, and one line in `_HINTS`. None
says anything without evidence; those that could bring most come first.
"""

from __future__ import annotations

from collections.abc import Callable

from explorer.analysis.hints import (
    bank_conflicts,
    barriers,
    cheaper_type,
    filling,
    instructions,
    latency,
    missing_tensor_cores,
    reuse,
    scattered,
    spills,
    turns,
)
from explorer.analysis.hints.case import Case
from explorer.analysis.roofline.documents import Hint

_HINTS: tuple[Callable[[Case], Hint | None], ...] = (
    scattered.find,
    missing_tensor_cores.find,
    spills.find,
    bank_conflicts.find,
    barriers.find,
    latency.find,
    turns.find,
    filling.find,
    reuse.find,
    instructions.find,
    cheaper_type.find,
)
_MOST = 3


def hints(case: Case) -> list[Hint]:
    """The most useful hints: by what they could bring at most; those whose gain is not known come last."""
    found = [hint for find in _HINTS if (hint := find(case)) is not None]
    return sorted(found, key=lambda each: -(each.gain_share or 0.0))[:_MOST]
