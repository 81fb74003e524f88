"""Hint: the grid has fewer blocks than the GPU has multiprocessors."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.hints.tried import MORE_PROGRAMS
from explorer.model.measurements import Sweep, SweepPoint

#: Below this share of idle multiprocessors, smaller tiles seldom make a kernel faster.
_WORTH = 0.25
#: From this share on, memory is so busy that more multiprocessors do not help.
_BUSY = 0.7
#: A larger size whose rate, compared with the rate of the run, is lower than this is not faster.
_HIGHER = 1.05


def find(case: Case) -> Hint | None:
    """Return the hint if a quarter of the multiprocessors or more has no block."""
    blocks, count = case.facts.blocks, case.facts.hardware.multiprocessors
    idle = 1 - blocks / count if count else 0.0
    if not blocks or idle < _WORTH or (case.memory_share or 0.0) >= _BUSY:
        return None
    if _is_as_fast_when_larger(case.facts.sweep, case.facts.sizes):
        return None
    return case.hint(
        "idle_multiprocessors",
        f"{blocks:,} blocks leave {count - blocks:,} of {count:,} multiprocessors idle",
        "Use smaller tiles in the dimensions of the grid, or split the reduced dimension between programs, "
        "so that there are more of them.",
        [
            Evidence("blocks", float(blocks), "", "static"),
            Evidence("multiprocessors", float(count), "", "static"),
            Evidence("share of the GPU that is idle", idle, "%", "static"),
        ],
        0,
        case.most_gain_ns,
        cost="Smaller tiles load shared operands more often. Programs that split a reduction need atomic "
        "operations, or a second kernel that adds their results.",
        change=MORE_PROGRAMS,
    )


def _is_as_fast_when_larger(sweep: Sweep | None, sizes: Mapping[str, float]) -> bool:
    """Return whether a sweep over sizes shows that a larger grid does not reach a higher rate."""
    if sweep is None or not sizes or not sweep.unit.endswith("/s"):
        return False
    now = next((each for each in sweep.points if dict(each.sizes) == dict(sizes)), None)
    larger = [each for each in sweep.points if _is_larger(each, sizes)]
    rate = now.values[0] if now and now.values else None
    best = max((each.values[0] or 0.0 for each in larger if each.values), default=0.0)
    return rate is not None and best > 0 and best < _HIGHER * rate


def _is_larger(point: SweepPoint, sizes: Mapping[str, float]) -> bool:
    others = [(value, sizes.get(name)) for name, value in point.sizes.items()]
    return (
        bool(others)
        and all(size is not None and value >= size for value, size in others)
        and any(size is not None and value > size for value, size in others)
    )
