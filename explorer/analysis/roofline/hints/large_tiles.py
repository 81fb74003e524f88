"""Hint: warps hold so many values in registers that few of them fit."""

from __future__ import annotations

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.barriers import hottest_line
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.hints.tried import LESS_PER_WARP
from explorer.analysis.roofline.numbers import percent

_OFTEN = 0.3
#: Above this share of the limit, more warps seldom make a kernel faster.
_FAR = 0.7
_LOW = 0.25


def find(case: Case) -> Hint | None:
    """Return the hint if warps wait for global memory and registers leave room for a quarter of them."""
    facts, share = case.facts, case.stalled("long_scoreboard")
    occupancy, resources = facts.occupancy, facts.resources
    if facts.tensor_instructions is not False or not case.fills_gpu or not occupancy or not resources:
        return None
    if occupancy.share > _LOW or occupancy.limiter != "registers":
        return None
    if share < _OFTEN or case.share is None or case.share >= _FAR:
        return None
    return case.hint(
        "large_tiles",
        f"Registers limit the occupancy to {percent(occupancy.share)}, and warps wait for memory",
        "Each warp holds many elements, so that few warps are there to run while others wait. Use more warps "
        "per block (num_warps), or smaller tiles.",
        [
            Evidence("samples that wait for global memory", share, "%", "measured"),
            Evidence(f"share of the time that {case.binding} needs at least", case.share, "%", "measured"),
            Evidence("theoretical occupancy", occupancy.share, "%", "static"),
            Evidence("registers per thread", float(resources.registers or 0), "", "static"),
        ],
        hottest_line(case, "long_scoreboard"),
        case.most_gain_ns,
        cost="A reduction over more warps goes through shared memory and waits at barriers. Smaller tiles "
        "make more programs, each with its own start.",
        change=LESS_PER_WARP,
    )
