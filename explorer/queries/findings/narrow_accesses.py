"""Narrow accesses: a lane moves fewer than 16 bytes at once, although it has more elements to move."""

from __future__ import annotations

import math
from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import fewer_warps, larger_blocks, without_masks
from explorer.queries.findings.finding import Change, Cost, Finding, Value
from explorer.queries.findings.multiples import cause_and_advice, distance, known_multiples, possible_bytes
from explorer.queries.findings.sectors import is_apart
from explorer.queries.layout_accesses import AccessRow
from explorer.queries.why_facts import code, counted

TITLE = "Width of accesses to global memory"
#: An access of a smaller share of the bytes of a program is a note.
_SMALL_SHARE = 0.05


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each access that is narrower than the data of a thread allows."""
    moved = case.moved_by_place
    for each in case.without_copies(case.accesses, _cost):
        possible, held = possible_bytes(case, each)
        if (
            each.lane_bytes is None
            or each.lane_bytes >= possible
            or "instruction" in each.limits
            or is_apart(each)
            or distance(each) == 0  # the elements are one element of the tensor
        ):
            continue
        line = case.source_line(each.line)
        cause, advice = cause_and_advice(case, each)
        # Outside of loops, the share is the most: a loop with unknown bounds counts as one turn.
        share = moved[case.place(each)] / moved.total()
        is_small = share < _SMALL_SHARE and not case.in_loop(each.line)
        yield Finding(
            rule="narrow_accesses",
            severity="note" if is_small else "warning",
            text=f"A lane moves {counted(each.lane_bytes, 'byte')} at once by "
            f"{code(each.operation)}, of {possible} possible.",
            evidence=(
                Value("bytes of a lane at once", each.lane_bytes, "B", "modelled"),
                Value("bytes that a thread moves", held, "B", "modelled"),
            ),
            cause=cause,
            advice=advice,
            source_line=line,
            ttgir_line=each.line,
            lines=case.machine_lines([line]),
            cost=Cost(share, "bytes that a program moves, at most", "modelled") if is_small else None,
            changes=tuple(_changes(case, each, line)),
            tour="layouts",
            terms=("vector-width",),
        )


def _cost(access: AccessRow) -> float:
    """Return the cost of an access: `sectors` reports the most costly ones, also with their width."""
    return 1 if is_apart(access) else -(access.lane_bytes or math.inf)


def _changes(case: Case, access: AccessRow, line: int) -> Iterator[Change]:
    if access.limits == ("layout",):
        yield from fewer_warps(case)
        yield from larger_blocks(case, _shape(case, access))
        return
    masks = tuple(without_masks(case, [line])) if "mask" in access.limits else ()
    if len(access.limits) == 1:
        yield from masks
        masks = ()
    yield from known_multiples(case, [access], masks[0].edits if masks else ())


def _shape(case: Case, access: AccessRow) -> tuple[int, ...]:
    return () if access.layout is None else tuple(case.layouts.layouts[access.layout].shape)
