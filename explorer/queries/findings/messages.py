"""Warnings of the compiler and of its assembler that no other rule is about."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.assembly.ptxas_messages import reason_of_serialization
from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding

TITLE = "Warnings of the compiler"


def find(case: Case) -> Iterator[Finding]:
    """Yield each warning of the compilation that no other rule is about."""
    for each in case.result.diagnostics:
        if each.severity == "warning" and not each.rule and not reason_of_serialization(each.message):
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
