"""What costs speed in a kernel."""

from __future__ import annotations

import msgspec

from explorer.agents.api import Api, document
from explorer.agents.tool import First, Id, page_from
from explorer.queries.findings import Checked, FindingsDocument
from explorer.queries.findings.finding import Finding


class Findings(msgspec.Struct, frozen=True):
    """The findings, warnings first, then by cost. `unchecked` are rules without an answer."""

    findings: list[Finding]
    total: int
    unchecked: list[Checked]
    next: str


async def findings(api: Api, compilation: Id, first: First = 0) -> Findings:
    """Return what costs speed in a kernel or makes it wrong, with cause, advice and evidence."""
    found = await document(api, f"/compilations/{compilation}/findings", FindingsDocument)
    rows, left = page_from(found.findings, len(found.findings), first, "findings")
    unchecked = [each for each in found.checked if each.reason]
    return Findings(rows, len(found.findings), unchecked, left or "Follow the advice, and compile again.")
