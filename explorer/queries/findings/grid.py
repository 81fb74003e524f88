"""The grid: fewer blocks than the GPU holds at once, or a last wave that is nearly empty."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case, NotChecked
from explorer.queries.findings.finding import Cost, Finding, Value

TITLE = "The size of the grid"
#: A tail that wastes a smaller share of the time is no finding.
_WORTH = 0.1
#: A grid that leaves a larger share of the multiprocessors idle is a warning if its programs take long.
_MOST = 0.5
#: A multiprocessor moves these bytes in about five microseconds, the time of a launch.
_LONG_BYTES = 256 * 1024
_SPLIT = "Split the reduction, or give each program less work, if the programs stay efficient."
_START_MORE = (
    "The programs take turns in the loop of line {line}: start as many programs as the GPU has "
    "multiprocessors, or more."
)


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
    is_long = waves.blocks < document.multiprocessors and share > _MOST and _is_long(case)
    yield Finding(
        rule="grid",
        severity="warning" if is_long else "note",
        text=text,
        evidence=(
            Value("blocks", waves.blocks, "", "observed"),
            Value("blocks that the GPU holds at once", waves.at_once, "", "modelled"),
        ),
        cause=cause,
        advice=_advice(case),
        cost=Cost(share, "multiprocessors", "modelled"),
        terms=("wave",),
    )


def _is_long(case: Case) -> bool:
    """Return whether a program moves so many bytes that it takes longer than a launch."""
    try:
        return sum(case.moved_bytes.values()) >= _LONG_BYTES
    except NotChecked:
        return False


def _advice(case: Case) -> str:
    try:
        shared = [each for each in case.turns if each.shares_programs]
    except NotChecked:
        shared = []
    return _START_MORE.format(line=case.source_line(shared[0].line)) if shared else _SPLIT
