"""Hint: the loop of a matrix product has too few pipeline stages to hide the latency of its loads."""

from __future__ import annotations

from explorer.analysis.occupancy.theoretical import occupancy
from explorer.analysis.roofline.documents import NEAR_SHARE, Evidence, Hint
from explorer.analysis.roofline.hints.barriers import hottest_line
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.hints.spills import are_many
from explorer.analysis.roofline.hints.tried import MORE_STAGES
from explorer.analysis.roofline.numbers import percent

_FEW = 2
_OFTEN = 0.3


def find(case: Case) -> Hint | None:
    """Return the hint if warps wait for the loads of a pipeline with one or two stages."""
    facts = case.facts
    stages, share = facts.stages, case.stalled("long_scoreboard", "barrier")
    if not facts.tensor_instructions or stages is None or not 0 < stages <= _FEW or are_many(facts.resources):
        return None
    if share < _OFTEN or case.share is None or case.share >= NEAR_SHARE:
        return None
    return case.hint(
        "pipeline_stages",
        f"Warps wait for the loads of a pipeline with {stages} stage{'s' if stages > 1 else ''}",
        "With more stages (num_stages), the loads of later iterations run while the matrix units work. From "
        "3 or 4 stages on, more of them seldom help.",
        [
            Evidence("samples that wait for global memory or at barriers", share, "%", "measured"),
            Evidence(f"share of the time that {case.binding} needs at least", case.share, "%", "measured"),
            Evidence("pipeline stages", float(stages), "", "static"),
        ],
        hottest_line(case, "long_scoreboard"),
        case.most_gain_ns,
        cost=_cost(case, stages),
        change=MORE_STAGES,
    )


def _cost(case: Case, stages: int) -> str:
    """Describe the shared memory that one more stage needs, and how many blocks then fit."""
    facts, found = case.facts, case.facts.resources
    now = facts.occupancy
    if found is None or now is None or not found.shared_bytes or not found.registers or not found.threads:
        return "Each stage takes shared memory for one more tile of each operand."
    step = found.shared_bytes // stages
    then = occupancy(facts.target.name, found.threads, found.registers, found.shared_bytes + step)
    fit = then.blocks_per_multiprocessor if then else 0
    return (
        f"Each stage takes about {step:,} bytes of shared memory per block: with {stages + 1} stages, {fit} "
        f"in place of {now.blocks_per_multiprocessor} blocks fit on a multiprocessor."
        if fit < now.blocks_per_multiprocessor
        else f"Each stage takes about {step:,} bytes of shared memory per block. With {stages + 1} stages, "
        "as many blocks fit on a multiprocessor as now."
    ) + f" The occupancy is {percent(now.share)} now."
