"""Hint: warps of a block wait for each other at barriers because the block has many warps."""

from __future__ import annotations

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.facts import stall_name
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.hints.tried import FEWER_WARPS
from explorer.analysis.roofline.numbers import percent

_OFTEN = 0.1
_MANY_WARPS = 8
#: Above this share of the limit, fewer warps seldom make a kernel faster.
_FAR = 0.75


def find(case: Case) -> Hint | None:
    """Return the hint if a block of many warps without matrix products often waits at barriers."""
    facts, share = case.facts, case.stalled("barrier")
    threads = facts.resources.threads if facts.resources else None
    if facts.tensor_instructions is not False or not threads or share < _OFTEN:
        return None
    warps = threads // facts.target.warp_size
    if warps < _MANY_WARPS or case.share is None or case.share >= _FAR:
        return None
    exchanged = case.stalled("barrier", "short_scoreboard")
    return case.hint(
        "barriers",
        f"The {warps} warps of a block wait at barriers in {percent(share)} of the samples",
        "A reduction or a scan over several warps exchanges data through shared memory, and all warps wait "
        "for the slowest. Use fewer warps per block (num_warps), so that more of it happens within a warp.",
        [
            Evidence("samples that wait at barriers", share, "%", "measured"),
            Evidence("samples that wait for shared memory or at barriers", exchanged, "%", "measured"),
            Evidence("warps per block", float(warps), "", "static"),
        ],
        hottest_line(case, "barrier"),
        case.most_gain_ns,
        cost="Each thread holds more elements: with half the warps, about twice the registers per thread.",
        change=FEWER_WARPS,
    )


def hottest_line(case: Case, reason: str) -> int:
    """Return the source line with the most stalls for a reason; 0 if unknown."""
    heat = case.facts.heat
    if heat is None or heat.reason:
        return 0
    taken = {
        each.line: sum(count for name, count in each.stalls.items() if stall_name(name) == reason)
        for each in heat.source
    }
    line = max(taken, key=lambda each: taken[each], default=0)
    return line if taken.get(line) else 0
