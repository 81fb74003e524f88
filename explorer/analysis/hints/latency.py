"""Memory that answers slowly and is not asked for enough at once."""

from __future__ import annotations

from explorer.analysis.hints.barriers import hottest_line
from explorer.analysis.hints.case import Case
from explorer.analysis.roofline.documents import NEAR_SHARE, Evidence, Hint
from explorer.analysis.roofline.numbers import percent

_OFTEN = 0.3
_LOW_OCCUPANCY = 0.5
_BY = {
    "registers": "registers",
    "shared memory": "shared memory",
    "warps": "its own warps",
    "blocks": "blocks",
}


def find(case: Case) -> Hint | None:
    """Where warps wait for global memory, while no memory is near its limit."""
    share = case.facts.stall_shares.get("long_scoreboard", 0.0)
    if share < _OFTEN or case.share is None or case.share >= NEAR_SHARE:
        return None
    time, room = case.facts.time_ns, case.room_ns
    evidence = [
        Evidence("samples that wait for global memory", share, "%", "measured"),
        Evidence(f"of the time {case.binding} needs at least", case.share, "%", "measured"),
    ]
    occupancy = case.facts.occupancy
    if occupancy and occupancy.share <= _LOW_OCCUPANCY:
        limiter = _BY[occupancy.limiter]
        title = f"Occupancy of {percent(occupancy.share)}, limited by {limiter}, hides too little latency"
        advice = {
            "registers": "Fewer registers a thread (smaller blocks, more warps) make room for more warps.",
            "shared memory": "Less shared memory a block (fewer stages, smaller blocks) makes room for more.",
        }.get(occupancy.limiter, "More warps a block make more requests at once.")
        evidence.append(Evidence("theoretical occupancy", occupancy.share, "%", "static"))
    else:
        title = "Warps wait for memory that is not busy: too few bytes are on their way"
        advice = "Let each thread load more before it uses any of it: larger blocks, more stages."
    return case.hint(
        "latency",
        title,
        f"What memory delivers is what is on its way by the time that it takes. {advice}",
        evidence,
        hottest_line(case, "long_scoreboard"),
        min(share * time, room) if time and room is not None else None,
    )
