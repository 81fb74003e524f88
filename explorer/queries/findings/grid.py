"""The grid: fewer blocks than the GPU holds at once, or a last wave that is nearly empty."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Cost, Finding, Value

TITLE = "The size of the grid"
#: A tail that wastes a smaller share of the time is no finding.
_WORTH = 0.1


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for a grid that leaves multiprocessors without work."""
    document = case.occupancy
    waves = document.waves
    if waves is None or case.has_guesses:
        return
    if waves.blocks < document.multiprocessors:
        idle = document.multiprocessors - waves.blocks
        text = f"{idle} of {document.multiprocessors} multiprocessors have no block."
        cause = "The grid has fewer blocks than the GPU has multiprocessors."
        share = 1 - waves.blocks / document.multiprocessors
    elif waves.waves > 1 and 1 - waves.used_share >= _WORTH:
        text = f"The last of {waves.waves} waves has {waves.tail:,} of {waves.at_once:,} possible blocks."
        cause = "The number of blocks is not near a multiple of the blocks that the GPU holds at once."
        share = 1 - waves.used_share
    else:
        return
    yield Finding(
        rule="grid",
        severity="note",
        text=text,
        evidence=(
            Value("blocks", waves.blocks, "", "observed"),
            Value("blocks that the GPU holds at once", waves.at_once, "", "modelled"),
        ),
        cause=cause,
        advice="Split the reduction, or give each program less work, if the programs stay efficient.",
        cost=Cost(share, "multiprocessors", "modelled"),
        terms=("wave",),
    )
