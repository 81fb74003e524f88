"""Warnings of the compiler and of its assembler, such as serialized matrix instructions."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding

TITLE = "Warnings of the compiler"


def find(case: Case) -> Iterator[Finding]:
    """Yield each warning of the compilation."""
    for each in case.result.diagnostics:
        if each.severity == "warning":
            yield Finding(
                rule="messages",
                severity="warning",
                text=each.message,
                advice=each.hint,
                source_line=each.line,
                lines=((each.stage_line, each.stage_line),)
                if each.stage_line and each.stage == case.machine_code
                else (),
            )
