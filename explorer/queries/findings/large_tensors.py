"""Large tensors and unrolled loops, which make many instructions and a slow compilation."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import more_warps, smaller_blocks
from explorer.queries.findings.finding import Finding

TITLE = "Instructions for each element"


def find(case: Case) -> Iterator[Finding]:
    """Yield the cause of long machine code, if one stands out."""
    cause = case.compile_time.cause
    if cause is not None:
        yield Finding(
            rule="large_tensors",
            severity="warning",
            text=cause.text,
            advice=cause.advice,
            source_line=cause.source_line,
            changes=(*smaller_blocks(case, cause.shape or None), *more_warps(case)),
            lines=case.machine_lines([cause.source_line]),
        )
