"""Occupancy: few warps fit on a multiprocessor, because of one resource or of several at once."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import smaller_blocks, stages
from explorer.queries.findings.finding import Cost, Finding, Value
from explorer.queries.occupancy import Curve
from explorer.queries.why_facts import counted, listed, percent

TITLE = "Occupancy"
#: With a larger occupancy, other warps hide most waiting.
_LOW = 0.25


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for a low occupancy that less of one resource, or of several, would raise."""
    document = case.occupancy
    found = document.occupancy
    helps = [each for each in document.curves if each.better is not None]
    limiting = [each for each in document.curves if each.resource in found.limiters]
    is_joint = not helps and len(limiting) == len(found.limiters) > 1
    waves = None if case.has_guesses else document.waves
    is_grid_small = waves is not None and waves.blocks <= waves.at_once
    # Measured on an H200: if the GPU holds the whole grid at once, smaller tiles only take longer.
    if found.share >= _LOW or not (helps or is_joint) or is_grid_small:
        return
    if helps:
        best = max(helps, key=lambda each: (each.better.share if each.better else 0.0, -each.now))
        assert best.better is not None
        limiting = [best]
        verb = "limit" if best.resource.endswith("s") else "limits"
        cause = (
            f"{best.resource.capitalize()} {verb} it: {_needed(best)} are needed. With "
            f"{best.better.value:,}, the occupancy would be {percent(best.better.share)}."
        )
    else:
        names = listed(each.resource for each in limiting).capitalize()
        cause = (
            f"{names} limit it: {listed(map(_needed, limiting))} are needed. Less of only one does not help."
        )
    yield Finding(
        rule="occupancy_limit",
        severity="note",
        text=f"The occupancy is {percent(found.share)}: a multiprocessor holds "
        f"{counted(found.blocks_per_multiprocessor, 'block')} of {document.threads} threads.",
        evidence=(
            Value("occupancy", found.share, "%", "modelled"),
            *(
                Value(
                    f"{each.resource} of a block or thread",
                    each.now,
                    "B" if each.unit == "bytes" else "",
                    "observed",
                )
                for each in limiting
            ),
        ),
        cause=cause,
        cost=Cost(1 - found.share, "places for warps", "modelled"),
        # Measured on an H200: with three blocks, a smaller tile was slower.
        changes=(
            *(stages(case, more=False) if any(each.unit == "bytes" for each in limiting) else ()),
            *smaller_blocks(case, of_loops=True),
        )
        if found.blocks_per_multiprocessor == 1
        else (),
        tour="occupancy",
        terms=("occupancy",),
    )


def _needed(curve: Curve) -> str:
    return f"{curve.now:,} {curve.unit if curve.unit == 'bytes' else curve.resource}"
