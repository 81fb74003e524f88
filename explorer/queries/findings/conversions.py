"""Layout conversions: in each turn of a loop, a tensor goes through shared memory into another layout."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding, Value
from explorer.queries.why_facts import code, counted

TITLE = "Layout conversions in loops"


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each conversion in an innermost loop that moves values to other warps."""
    for each in case.layouts.conversions:
        if each.movement != "shared memory" or not case.in_loop(each.line):
            continue
        line = case.source_line(each.line)
        origin, result = (case.layouts.layouts[index].label for index in (each.origin, each.result))
        wavefronts = each.cost.wavefronts if each.cost else None
        yield Finding(
            rule="conversions",
            severity="warning",
            text=f"Each turn of the loop moves {counted(each.bytes, 'byte')} through "
            "shared memory to change a layout.",
            evidence=(
                Value("bytes of the tensor", each.bytes, "B", "observed"),
                *([Value("least wavefronts", wavefronts, "", "modelled")] if wavefronts is not None else []),
            ),
            cause=f"One operation makes the tensor in {code(origin)}, another needs it in {code(result)}.",
            source_line=line,
            ttgir_line=each.line,
            lines=case.machine_lines([line]),
            tour="layouts",
            terms=("conversion",),
        )
