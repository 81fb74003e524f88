"""Overhead of loops: most instructions of a turn compute addresses and masks, not the matrix product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from explorer.analysis.assembly.matrix_loops import matrix_loops
from explorer.analysis.graphs import NothingToDraw
from explorer.analysis.mlir.loop_loads import loop_loads
from explorer.queries.findings.case import Case, NotChecked
from explorer.queries.findings.finding import Cost, Finding, Value
from explorer.queries.stage_lines import source_lines
from explorer.queries.why_facts import listed

TITLE = "Instructions of a loop beside its matrix instructions"
#: Measured on sm_80, sm_90 and gfx942: loops of good kernels have at most 63 % of such instructions.
_HIGH = 2 / 3
_MOST_LINES = 3


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each loop most of whose instructions are integer arithmetic or convert types.

    Accesses to local memory do not count: `spills` has a finding then.
    """
    stage = case.result.stages.get(case.machine_code)
    if stage is None:
        raise NotChecked("The compilation has no machine code.")
    try:
        loops = list(matrix_loops(case.record.text(stage.text), stage.language))
    except NothingToDraw as error:
        raise NotChecked(str(error)) from error
    sources = source_lines(case.record, stage)
    for each in loops:
        integers, conversions = each.lines("integer"), each.lines("conversion")
        matrix, total, others = len(each.lines("tensor")), len(each.instructions), [*integers, *conversions]
        if len(others) < _HIGH * total:
            continue
        lines = Counter(line for number in others if (line := sources[number - 1]))
        most = sorted(line for line, _ in lines.most_common(_MOST_LINES))
        causes, advice = _causes(case, lines)
        where = f"line{'s' * (len(most) > 1)} {listed(list(map(str, most)))}"
        converted = f", and {len(conversions)} convert types" if conversions else ""
        yield Finding(
            rule="loop_overhead",
            severity="warning",
            text=f"Each turn of the loop has {total} instructions: {matrix} are matrix instructions, "
            f"{len(integers)} compute integers, such as addresses and masks{converted}.",
            evidence=(
                Value("instructions of a turn", total, "", "observed"),
                Value("matrix instructions", matrix, "", "observed"),
                Value("integer instructions", len(integers), "", "observed"),
                Value("conversions of types", len(conversions), "", "observed"),
            ),
            cause=f"Most of them come from {where}.{causes}" if most else "",
            advice=advice,
            source_line=lines.most_common(1)[0][0] if lines else 0,
            lines=case.machine_lines(most),
            cost=Cost(len(others) / total, "instructions of a turn", "observed"),
            tour="machine_code",
            terms=("instruction-mix", "tensor-core"),
        )


def _causes(case: Case, lines: Counter[int]) -> tuple[str, str]:
    """Return what the lines compute in each turn, and what makes it less."""
    found = loop_loads(case.ttgir)
    causes, advice = [], []
    if any(case.source_line(each) in lines for each in found.wide_offsets):
        causes.append(" Each turn computes offsets of loads in 64 bits.")
        advice.append(
            "Add the start of the block to the pointer before the loop, in 64 bits, and compute the offsets "
            "inside of the block in 32 bits."
        )
    if any(case.source_line(each) in lines for each in found.combined_masks):
        causes.append(" Each turn combines masks of rows and columns.")
        advice.append(
            "Compare only along the dimension of the loop: before it, wrap the other indices with `% size`, "
            "and leave out the wrapped elements when you store."
        )
    return "".join(causes), " ".join(advice)
