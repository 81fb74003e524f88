"""Hint: each warp has few loads in flight, although the GPU is full of warps."""

from __future__ import annotations

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.barriers import hottest_line
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.hints.spills import are_many
from explorer.analysis.roofline.hints.tried import MORE_PER_WARP

_OFTEN = 0.3
#: Above this share of the limit, larger tiles seldom make a kernel faster.
_FAR = 0.65
_BUSY = 0.5
_FULL = 0.5


def find(case: Case) -> Hint | None:
    """Return the hint if warps wait for global memory, memory is not busy, and many warps are active."""
    facts, share = case.facts, case.stalled("long_scoreboard")
    occupancy = facts.occupancy
    if facts.tensor_instructions is not False or not case.fills_gpu or are_many(facts.resources):
        return None
    if share < _OFTEN or case.share is None or case.share >= _FAR or not occupancy or occupancy.share < _FULL:
        return None
    if case.binding not in ("dram", "l2", "l1") and case.share >= _BUSY:
        return None
    return case.hint(
        "bytes_in_flight",
        "Warps wait for memory that is not busy: each warp loads too little at once",
        "Throughput is the number of bytes in flight divided by the latency, and the GPU has no room for "
        "many more warps. Let each thread load more before it uses the first value: larger tiles, or fewer "
        "warps per block.",
        [
            Evidence("samples that wait for global memory", share, "%", "measured"),
            Evidence(f"share of the time that {case.binding} needs at least", case.share, "%", "measured"),
            Evidence("theoretical occupancy", occupancy.share, "%", "static"),
        ],
        hottest_line(case, "long_scoreboard"),
        case.most_gain_ns,
        cost="Each thread needs more registers, so that fewer warps fit, and a larger tile leaves fewer "
        "programs. A tile that is too large spills.",
        change=MORE_PER_WARP,
    )
