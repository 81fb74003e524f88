"""Warps that wait for each other."""

from __future__ import annotations

from explorer.analysis.hints.case import Case
from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.facts import stall_name
from explorer.analysis.roofline.numbers import percent

_OFTEN = 0.15


def find(case: Case) -> Hint | None:
    """Where barriers hold a good part of all samples."""
    share = case.facts.stall_shares.get("barrier", 0.0)
    if share < _OFTEN:
        return None
    line = hottest_line(case, "barrier")
    time, room = case.facts.time_ns, case.room_ns
    return case.hint(
        "barriers",
        f"Warps wait at barriers in {percent(share)} of the samples",
        "The warps of a block exchange data through shared memory and wait for the slowest. More stages "
        "of pipelining "
        "(num_stages), fewer warps a block, or several smaller blocks on a multiprocessor let others work "
        "meanwhile.",
        [Evidence("samples that wait at barriers", share, "%", "measured")],
        line,
        min(share * time, room) if time and room is not None else None,
    )


def hottest_line(case: Case, reason: str) -> int:
    """The source line at which warps stall most for that reason; 0: not known."""
    heat = case.facts.heat
    if heat is None or heat.reason:
        return 0
    taken = {
        each.line: sum(count for name, count in each.stalls.items() if stall_name(name) == reason)
        for each in heat.source
    }
    line = max(taken, key=lambda each: taken[each], default=0)
    return line if taken.get(line) else 0
