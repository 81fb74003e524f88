"""Bytes that are fetched again and again from a level that is the limit."""

from __future__ import annotations

from explorer.analysis.hints.case import Case
from explorer.analysis.hints.scattered import wasted_share
from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.numbers import scaled
from explorer.analysis.roofline.work import tensor_bytes
from explorer.measurements import Level

_MUCH_MORE = 1.3
_LIMIT = 0.5
_SCATTERED = 0.25


def find(case: Case) -> Hint | None:
    """Where DRAM moves more than the tensors hold, or the L2 far more than DRAM, and that is the limit."""
    return _again_from_dram(case) or _again_from_l2(case)


def _again_from_dram(case: Case) -> Hint | None:
    moved, held = case.bytes("dram"), tensor_bytes(case.facts)
    need = case.need_ns("dram")
    time = case.facts.time_ns
    if not moved or not held or not need or not time or moved < _MUCH_MORE * held or need < _LIMIT * time:
        return None
    return case.hint(
        "reuse",
        f"DRAM moves {scaled(moved, 'B')}, the tensors hold {scaled(held, 'B')}",
        "The same bytes come from DRAM several times. Larger blocks use what they have loaded more often; "
        "an order of "
        "programs in which neighbours share their operands lets the L2 keep them.",
        [_moved(case, "dram", moved), Evidence("bytes of all tensors, once", held, "B", "static")],
        0,
        need - max(need * held / moved, case.next_need_ns("dram")),
    )


def _again_from_l2(case: Case) -> Hint | None:
    l2, dram, need = case.bytes("l2"), case.bytes("dram"), case.need_ns("l2")
    if not l2 or not dram or not need or case.binding != "l2" or l2 < 2 * dram:
        return None
    if wasted_share(case) > _SCATTERED:  # then they are not the same bytes
        return None
    return case.hint(
        "reuse",
        f"The L2 moves {scaled(l2, 'B')} for {scaled(dram, 'B')} from DRAM",
        "Several blocks load the same bytes. Larger blocks load each less often; blocks of a cluster can "
        "share loads.",
        [_moved(case, "l2", l2), _moved(case, "dram", dram)],
        0,
        need - case.next_need_ns("l2"),
    )


def _moved(case: Case, level: Level, value: float) -> Evidence:
    source = next(each.bytes.source for each in case.traffic if each.level == level and each.bytes)
    return Evidence(f"bytes through {level.upper()}", value, "B", source)
