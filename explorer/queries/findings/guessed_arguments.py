"""Guessed arguments: no launch determines them, so that every figure may be another with the real ones."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding
from explorer.queries.why_facts import code, listed

TITLE = "Guessed arguments"


def find(case: Case) -> Iterator[Finding]:
    """Yield one finding that names the guessed arguments."""
    specialized = case.result.specialized
    if specialized is not None and specialized.guesses:
        verb = "is" if len(specialized.guesses) == 1 else "are"
        names = listed(map(code, specialized.guesses))
        yield Finding(
            rule="guessed_arguments",
            severity="note",
            text=f"{names} {verb} guessed: other values can change every figure.",
            advice="Add a launch to the source, or give the arguments in the launch panel or as a signature.",
            source_line=specialized.line,
        )
