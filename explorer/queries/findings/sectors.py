"""Sectors: the lanes of a warp access more sectors of memory than their data fills."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.model.hardware import SECTOR_BYTES
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import change_of, larger_blocks
from explorer.queries.findings.finding import Change, Cost, Finding, Value
from explorer.queries.findings.multiples import UNKNOWN, known_multiples
from explorer.queries.layout_accesses import AccessRow
from explorer.queries.why_facts import code

TITLE = "Sectors of memory that are used"
#: Accesses that use a larger share of their sectors are no finding.
GOOD_SHARE = 0.5


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each access that uses less than half of its sectors."""
    for each in case.accesses:
        if each.sector_share is None or each.sectors is None or each.sector_share >= GOOD_SHARE:
            continue
        line = case.source_line(each.line)
        most = "at least " if each.sectors_are_most else ""
        cause, advice = _cause(each)
        yield Finding(
            rule="sectors",
            severity="warning",
            text=f"{code(each.operation)} uses {most}{100 * each.sector_share:.0f} % of "
            "the bytes of the sectors that it accesses.",
            evidence=(
                Value("sectors that a warp accesses", each.sectors, "", "modelled"),
                Value("bytes that it uses", each.used_bytes or 0, "B", "modelled"),
                Value("size of a sector", SECTOR_BYTES, "B", "observed"),
            ),
            cause=cause,
            advice=advice,
            source_line=line,
            ttgir_line=each.line,
            lines=case.machine_lines([line]),
            changes=tuple(_changes(case, each)),
            cost=Cost(1 - each.sector_share, "bytes that it transfers", "modelled"),
            tour="layouts",
            terms=("sector", "coalescing"),
        )


def _changes(case: Case, access: AccessRow) -> Iterator[Change]:
    """Propose consecutive elements for each program, or a larger block where it is too narrow."""
    if access.limit != "layout":
        yield from known_multiples(case, [access])
    if access.allowed.get("contiguity", 0) > 1:
        if access.limit not in UNKNOWN:
            yield from larger_blocks(case)
        return
    specialized = case.result.specialized
    if specialized is not None and specialized.grid is not None and not case.has_guesses:
        counts = {
            each.name: each.value
            for each in specialized.arguments
            if isinstance(each.value, int) and not isinstance(each.value, bool)
        }
        for text, edits in case.editable.in_blocks(case.record.kernel or "", counts, specialized.grid):
            yield change_of(edits, code(text))


def _cause(access: AccessRow) -> tuple[str, str]:
    """Return the cause in the pointer or in the layout, and what changes it."""
    pointer, contiguity = access.pointer, access.allowed.get("contiguity", 0)
    if pointer is None or contiguity == 1:
        return (
            "Neighboring lanes access addresses that the compiler does not know to be consecutive.",
            "Make the dimension with a stride of 1 the innermost dimension of the block.",
        )
    if access.limit in UNKNOWN:
        cause, advice = UNKNOWN[access.limit]
        return cause.format(count=access.allowed[access.limit]), advice
    return (
        f"The layout gives the lanes of a warp only {contiguity} consecutive elements.",
        "Exchange the dimensions of the block, so that the lanes follow the consecutive addresses.",
    )
