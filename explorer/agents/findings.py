"""What costs speed in a kernel, and the changes that make it faster."""

from __future__ import annotations

from typing import Annotated

import msgspec

from explorer.agents.api import Api, document
from explorer.agents.search import Improvement, Search
from explorer.agents.tool import WAIT_SECONDS, First, Id, page_from, page_of
from explorer.documents import CompilationDocument, shortened
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
    return Findings(
        rows,
        len(found.findings),
        unchecked,
        left or "Call improve_kernel, or follow the advice and compile again.",
    )


class ImprovedKernel(Improvement, frozen=True, kw_only=True):
    """The kernel with the changes that are proven.

    `page` is the link of the comparison; "" if no change is taken, or no server.
    """

    page: str
    next: str


async def improve_kernel(
    api: Api,
    compilation: Id,
    seconds: Annotated[
        float, msgspec.Meta(ge=0, le=WAIT_SECONDS, description="Time after which nothing begins")
    ] = WAIT_SECONDS,
) -> ImprovedKernel:
    """Try the changes that findings propose, one after another, and keep each that is proven.

    A change is proven if its finding vanishes, no warning of more cost appears, the kernel writes the same
    results, and, where the server has a GPU of the target, it is faster. Returns each try and the difference
    of the source.
    """
    before = await document(api, f"/compilations/{compilation}", CompilationDocument)
    search = Search(api, before, seconds)
    async for _ in search.tries():
        pass
    found = search.result
    shown = msgspec.structs.replace(
        found, tries=page_of(found.tries), diff=page_of(map(shortened, found.diff))
    )
    is_changed = found.compilation != compilation
    return ImprovedKernel(
        **msgspec.structs.asdict(shown),
        page=f"{api.url}/compare/{compilation}..{found.compilation}" if api.url and is_changed else "",
        next="Changes are left to try. Call improve_kernel again: it continues with stored results."
        if not found.is_complete
        else "Call compare with both compilations, or run with the new one."
        if is_changed
        else "No change is proven to help. Call findings, follow the advice, and compile again.",
    )
