"""Occupancy: few warps fit on a multiprocessor, and one resource is the reason."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import smaller_blocks, stages
from explorer.queries.findings.finding import Cost, Finding, Value
from explorer.queries.why_facts import counted, percent

TITLE = "Occupancy"
#: With a larger occupancy, other warps hide most waiting.
_LOW = 0.25


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for a low occupancy that less of one resource would raise."""
    document = case.occupancy
    found = document.occupancy
    helps = [each for each in document.curves if each.better is not None]
    waves = None if case.has_guesses else document.waves
    is_grid_small = waves is not None and waves.blocks <= waves.at_once
    # Measured on an H200: if the GPU holds the whole grid at once, smaller tiles only take longer.
    if found.share >= _LOW or not helps or is_grid_small:
        return
    best = max(helps, key=lambda each: (each.better.share if each.better else 0.0, -each.now))
    assert best.better is not None
    unit = best.unit if best.unit == "bytes" else best.resource
    yield Finding(
        rule="occupancy_limit",
        severity="note",
        text=f"The occupancy is {percent(found.share)}: a multiprocessor holds "
        f"{counted(found.blocks_per_multiprocessor, 'block')} of {document.threads} threads.",
        evidence=(
            Value("occupancy", found.share, "%", "modelled"),
            Value(
                f"{best.resource} of a block or thread", best.now, "B" if unit == "bytes" else "", "observed"
            ),
        ),
        cause=f"{best.resource.capitalize()} limits it: {best.now:,} {unit} are needed. With "
        f"{best.better.value:,}, the occupancy would be {percent(best.better.share)}.",
        cost=Cost(1 - found.share, "places for warps", "modelled"),
        changes=(
            *(stages(case, more=False) if best.resource == "shared memory" else ()),
            *smaller_blocks(case, of_loops=True),
        ),
        tour="occupancy",
        terms=("occupancy",),
    )
