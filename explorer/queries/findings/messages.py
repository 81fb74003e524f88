"""Warnings of the compiler and of its assembler, such as serialized matrix instructions."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.assembly.ptxas_messages import reason_of_serialization
from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding

TITLE = "Warnings of the compiler"
#: What ptxas says, in other words.
_REASONS = {
    "insufficient register resources for the wgmma pipeline": (
        "a thread has too few registers for the operands and results of instructions that run at once"
    ),
}


def find(case: Case) -> Iterator[Finding]:
    """Yield each warning of the compilation that no other rule is about."""
    for each in case.result.diagnostics:
        if each.severity == "warning" and not each.rule:
            yield Finding(
                rule="messages",
                severity="warning",
                text=_text(each.message),
                cause=each.message if reason_of_serialization(each.message) else "",
                advice=each.hint,
                source_line=each.line,
                lines=((each.stage_line, each.stage_line),)
                if each.stage_line and each.stage == case.machine_code
                else (),
            )


def _text(message: str) -> str:
    """Return a message in plain words, if it is known; the message stands below it then."""
    if reason := reason_of_serialization(message):
        return (
            f"The matrix instructions wait for each other, because of this: {_REASONS.get(reason, reason)}."
        )
    return message
