"""Matrix units and others that are busy one after the other."""

from __future__ import annotations

from explorer.analysis.hints.case import Case
from explorer.analysis.roofline.documents import NEAR_SHARE, Evidence, Hint
from explorer.analysis.roofline.floor import TENSOR_PIPE
from explorer.analysis.roofline.numbers import percent

_BUSY = 0.25
_TOGETHER = 0.8


def find(case: Case) -> Hint | None:
    """Where the matrix units and another pipe are busy for most of the time together, and neither alone."""
    pipes = {row.name: row for row in case.resources if row.unit == "%"}
    tensor = pipes.pop(TENSOR_PIPE, None)
    other = max(pipes.values(), key=lambda row: row.work.value, default=None)
    if tensor is None or other is None:
        return None
    busy = (tensor.work.value, other.work.value)
    if min(busy) < _BUSY or max(busy) >= NEAR_SHARE or sum(busy) < _TOGETHER:
        return None
    return case.hint(
        "turns",
        f"Matrix units ({percent(busy[0])}) and {other.title} ({percent(busy[1])}) seem to take turns",
        "Together they are busy for most of the time, neither for all of it. Let one product run while "
        "what stands "
        "between products is computed for another: more stages, two blocks on a multiprocessor, or "
        "specialised warps.",
        [
            Evidence("cycles in which the matrix units are busy", busy[0], "%", "measured"),
            Evidence(f"cycles in which the {other.title} is", busy[1], "%", "measured"),
        ],
        0,
        case.room_ns,
    )
