"""Sectors: an access needs more sectors of memory than its data fills.

All instructions of an access count together: L1 serves a sector that several loads need. That each of them
uses a small part is a matter of their width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from explorer.analysis.mlir.moved_values import moved_values
from explorer.model.hardware import SECTOR_BYTES
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import larger_blocks, line_changes
from explorer.queries.findings.finding import Change, Cost, Finding, Value
from explorer.queries.findings.multiples import MOVE_TOGETHER, known_multiples, possible_bytes
from explorer.queries.layout_accesses import AccessRow
from explorer.queries.why_facts import code, counted, listed, percent

TITLE = "Sectors of memory that are used"
#: Accesses that use a larger share of their sectors are no finding.
GOOD_SHARE = 0.5


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each access that uses less than half of its sectors."""
    for each in case.without_copies(filter(is_apart, case.accesses), lambda each: -_share(each)):
        together = each.together
        if together is None:
            continue
        line = case.source_line(each.line)
        most = "at least " if each.sectors_are_most else ""
        given = listed(f"{code(name)} = {value}" for name, value in (each.launch_values or {}).items())
        with_values = f", with this launch's {given}" if given else ""
        narrow = ""
        if each.lane_bytes is not None and each.lane_bytes < (possible := possible_bytes(case, each)[0]):
            narrow = f"; a lane moves {counted(each.lane_bytes, 'byte')} at once, of {possible} possible"
        cause, advice = _cause(case, each)
        yield Finding(
            rule="sectors",
            severity="warning",
            text=f"{code(each.operation)} uses {most}{percent(together.share)} of "
            f"the bytes of the sectors that it accesses{with_values}{narrow}.",
            evidence=(
                Value("sectors that a program accesses", together.sectors, "", "modelled"),
                Value("bytes that it uses", together.used_bytes, "B", "modelled"),
            ),
            cause=cause,
            advice=advice,
            source_line=line,
            ttgir_line=each.line,
            lines=case.machine_lines([line]),
            changes=tuple(_changes(case, each)),
            cost=Cost(
                1 - together.share,
                f"bytes that it transfers{', at most' if each.sectors_are_most else ''}",
                "modelled",
            ),
            tour="layouts",
            terms=("sector", "coalescing"),
        )


def _changes(case: Case, access: AccessRow) -> Iterator[Change]:
    """Propose larger rows of the tile, what the compiler cannot know, or consecutive elements."""
    if size := _short_row(case, access):
        yield from larger_blocks(case, [size])
    if access.launch_values is None and access.limits != ("layout",):
        yield from known_multiples(case, [access])
    if access.allowed.get("contiguity", 0) > 1 or case.launch_values is None:
        return
    for text, edits in case.editable.in_blocks(case.record.kernel or "", *case.launch_values):
        yield from line_changes(edits, code(text))


def _cause(case: Case, access: AccessRow) -> tuple[str, str]:
    """Return the cause in the tile or in the pointer, and what changes it."""
    if size := _short_row(case, access):
        return (
            f"The tile has only {size} elements along the dimension of consecutive addresses.",
            "Use a larger tile along this dimension.",
        )
    if _is_transposed(case, access):
        return (
            "The load and the store of a value follow different dimensions: the lanes have consecutive "
            "addresses in only one of the two.",
            "If other programs access the addresses between, move a tile with two dimensions of at least 32 "
            "elements, and store `tl.trans` of it. The compiler transposes it through shared memory, so that "
            "both accesses follow consecutive addresses.",
        )
    if access.launch_values is not None:
        apart = [abs(each) for each in access.distances if each]
        if not apart or None in access.distances:
            return "Neighboring elements of the tile have no regular distance in memory.", MOVE_TOGETHER
        return f"Neighboring elements of the tile are at least {min(apart):,} elements apart.", MOVE_TOGETHER
    advice = "Make the dimension with a stride of 1 the innermost dimension of the tile."
    if _rank(case, access) < 2:
        advice = (
            "Compute the offsets from `tl.arange` without a stride, or with a stride of `tl.constexpr` 1."
        )
    return "Neighboring lanes access addresses that the compiler does not know to be consecutive.", advice


def is_apart(access: AccessRow) -> bool:
    """Return whether all instructions of an access together use less of the sectors than a good access.

    If the elements of the tile are few, such as one for all, they cannot fill their sectors.
    """
    together = access.together
    return (
        together is not None
        and together.share < GOOD_SHARE
        and together.sectors > math.ceil(together.used_bytes / SECTOR_BYTES)
    )


def _share(access: AccessRow) -> float:
    return access.together.share if access.together else 1.0


def _is_transposed(case: Case, access: AccessRow) -> bool:
    """Return whether an access moves a value whose other access, load or store, uses its sectors well.

    In the launch, other programs or turns must access the addresses between.
    """
    apart = [abs(each) for each in access.distances if each]
    if access.shift is not None and not (apart and access.shift % min(apart)):
        return False
    if access.shift is None and _rank(case, access) < 2:
        return False
    others = {
        other
        for pair in moved_values(case.functions)
        if access.line in pair
        for other in pair
        if other != access.line
    }
    return any(
        each.line in others and each.together is not None and each.together.share >= GOOD_SHARE
        for each in case.accesses
    )


def _rank(case: Case, access: AccessRow) -> int:
    return 0 if access.layout is None else len(case.layouts.layouts[access.layout].shape)


def _short_row(case: Case, access: AccessRow) -> int:
    """Return the size of the tile along consecutive addresses, if a larger one helps; otherwise 0."""
    if access.layout is None or access.dimension is None:
        return 0
    shape = case.layouts.layouts[access.layout].shape
    if access.launch_values is not None:
        return max(
            (size for size, apart in zip(shape, access.distances, strict=True) if apart == 1), default=0
        )
    size = shape[access.dimension]
    return size if 1 < size == access.allowed["contiguity"] else 0
