"""Narrow accesses: a lane moves fewer than 16 bytes at once, although it has more elements to move."""

from __future__ import annotations

import math
from collections.abc import Iterator

from explorer.analysis.layouts.global_access import bytes_of_element
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import fewer_warps, larger_blocks, without_masks
from explorer.queries.findings.finding import Cost, Finding, Value
from explorer.queries.findings.multiples import UNKNOWN, known_multiples
from explorer.queries.findings.sectors import is_apart
from explorer.queries.layout_accesses import AccessRow
from explorer.queries.why_facts import code, counted

TITLE = "Width of accesses to global memory"
_WIDEST_BYTES = 16
#: An access of a smaller share of the bytes of a program is a note.
_SMALL_SHARE = 0.05
#: The cause and the advice for each limit of the width.
_LIMITS = {
    "layout": (
        "The layout gives a thread {count} consecutive elements.",
        "Use fewer warps or a larger tile, so that a thread has more consecutive elements.",
    ),
    "contiguity": (
        "The compiler can prove only {count} consecutive addresses.",
        "Compute the innermost offsets from `tl.arange` without a stride, or with a stride of "
        "`tl.constexpr` 1; `tl.max_contiguous` states what the compiler cannot prove.",
    ),
    **UNKNOWN,
}


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each access that is narrower than the data of a thread allows."""
    moved = {each.line: _moved_bytes(case, each) for each in case.accesses}
    for each in case.accesses:
        held = _held_bytes(case, each)
        if (
            each.lane_bytes is None
            or each.lane_bytes >= min(_WIDEST_BYTES, held)
            or each.limit not in _LIMITS
            or is_apart(each)
        ):
            continue
        count = each.allowed.get(each.limit, 1)
        line = case.source_line(each.line)
        cause, advice = _LIMITS[each.limit]
        # Outside of loops, the share is the most: accesses in loops move their bytes in each turn.
        share = moved[each.line] / sum(moved.values())
        is_small = share < _SMALL_SHARE and not case.in_loop(each.line)
        yield Finding(
            rule="narrow_accesses",
            severity="note" if is_small else "warning",
            text=f"A lane moves {counted(each.lane_bytes, 'byte')} at once by "
            f"{code(each.operation)}, of {min(_WIDEST_BYTES, held)} possible.",
            evidence=(
                Value("bytes of a lane at once", each.lane_bytes, "B", "modelled"),
                Value("bytes that a thread moves", held, "B", "modelled"),
            ),
            cause=cause.format(count=count),
            advice=advice,
            source_line=line,
            ttgir_line=each.line,
            lines=case.machine_lines([line]),
            cost=Cost(share, "bytes that a program moves, at most", "modelled") if is_small else None,
            changes=(
                (*fewer_warps(case), *larger_blocks(case, _shape(case, each)))
                if each.limit == "layout"
                else (
                    *(without_masks(case, [line]) if each.limit == "mask" else ()),
                    *known_multiples(case, [each]),
                )
            ),
            tour="layouts",
            terms=("vector-width",),
        )


def _shape(case: Case, access: AccessRow) -> tuple[int, ...]:
    return () if access.layout is None else tuple(case.layouts.layouts[access.layout].shape)


def _moved_bytes(case: Case, access: AccessRow) -> int:
    """Return the bytes of the tensor of an access."""
    return math.prod(_shape(case, access)) * bytes_of_element(access.element)


def _held_bytes(case: Case, access: AccessRow) -> int:
    """Return the bytes that a thread moves by an access in all."""
    if access.layout is None:
        return 0
    row = case.layouts.layouts[access.layout]
    if row.bases is None:
        return 0
    registers = next((each.bases for each in row.bases.inputs if each.name == "register"), ())
    return math.prod(2 for basis in registers if any(basis)) * bytes_of_element(access.element)
