"""Double precision that no argument asks for: a constant or a function makes values of 64 bits."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.mlir.texts import has_fp64_pointers, operations_in_fp64
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import line_changes
from explorer.queries.findings.finding import Finding, Value
from explorer.queries.why_facts import code, counted

TITLE = "Double precision by accident"
_HIGH_SHARE = 0.5


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for the first line that computes in fp64, if no argument has this type."""
    if has_fp64_pointers(case.ttgir):
        return
    found = operations_in_fp64(case.ttgir)
    if not found:
        return
    number, operation = found[0]
    line = case.source_line(number)
    edits = case.editable.in_fp32(case.record.kernel or "")
    rates = case.target.operations_per_clock
    share = rates["fp64"] / rates["fp32"] if "fp64" in rates else None
    yield Finding(
        rule="double_precision",
        # Measured on an H200: at half of the rate, memory often limits the kernel in both precisions.
        severity="note" if share is not None and share >= _HIGH_SHARE else "warning",
        text=f"{code(operation)} computes in fp64, although no argument has this type.",
        evidence=(
            Value("operations in fp64", len(found), "", "observed"),
            *([] if share is None else [Value("rate of fp64, of the rate of fp32", share, "%", "modelled")]),
        ),
        cause=f"TTGIR has {counted(len(found), 'operation')} with values of 64 bits.",
        advice="Use `tl.float32` in place of `tl.float64`, or convert the value with `.to(tl.float32)`.",
        source_line=line,
        ttgir_line=number,
        lines=case.machine_lines([line]),
        changes=line_changes(edits, "`tl.float32` in place of `tl.float64`"),
    )
