"""Assertions of a kernel that the compiler leaves out, so that nothing checks them."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Change, Finding

TITLE = "Assertions that are left out"


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each line whose assertion is left out."""
    for each in case.diagnostics("assertions"):
        yield Finding(
            rule="assertions",
            severity="note",
            text=each.message,
            advice=each.hint,
            source_line=each.line,
            changes=(Change("debug=True", {"debug": True}, may_be_faster=False),),
        )
