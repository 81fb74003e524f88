"""The register cliff: ptxas has given up and uses few registers, so that most values go through memory."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Finding
from explorer.queries.findings.spills import finding_of_spills, spill_words

TITLE = "Fallback to few registers"


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding if ptxas has fallen back to few registers."""
    if case.diagnostics("register_cliff"):
        resources = case.resources
        possible = case.target.device.multiprocessor.registers_of_a_thread(resources.threads or 1)
        yield finding_of_spills(
            case,
            "register_cliff",
            f"ptxas has fallen back to {resources.registers} of {possible} possible registers of a thread; "
            f"{spill_words(case)}.",
        )
