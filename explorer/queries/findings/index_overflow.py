"""Index overflow: an offset wraps at the sizes of the launch, so that other elements are accessed."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.mlir.index_ranges import Overflow, overflows
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import line_changes
from explorer.queries.findings.finding import Finding, Value
from explorer.queries.why_facts import code

TITLE = "Offsets that do not fit into their type"


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each source line whose offset wraps."""
    if case.launch_values is None:
        return
    found: dict[int, list[Overflow]] = {}
    for each in overflows(case.functions, *case.launch_values):
        found.setdefault(case.source_line(each.line), []).append(each)
    for line, (each, *others) in found.items():
        edits = case.editable.in_64_bits(case.position(one.line) for one in (each, *others))
        yield Finding(
            rule="index_overflow",
            severity="warning",
            text=f"{code(each.operation)} reaches {each.value:,}, which {each.bits} bits do not hold: the "
            "offset wraps, and another element is accessed.",
            evidence=(
                Value("value at these sizes", each.value, "", "modelled"),
                Value("largest value of the type", (1 << (each.bits - 1)) - 1, "", "observed"),
            ),
            cause=f"The product or sum is computed in {each.bits} bits before it is added to the pointer.",
            advice="Convert an operand with `tl.cast(…, tl.int64)` before the multiplication.",
            source_line=line,
            ttgir_line=each.line,
            lines=case.machine_lines([line]),
            changes=line_changes(edits, is_correction=True),
        )
