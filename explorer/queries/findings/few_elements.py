"""Few elements: a tile is so small for its threads that none of them can move 16 bytes at once."""

from __future__ import annotations

import math
from collections.abc import Iterator

from explorer.model.hardware import LANE_ACCESS_BYTES
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import fewer_warps, larger_blocks
from explorer.queries.findings.finding import Finding, Value
from explorer.queries.findings.multiples import possible_bytes
from explorer.queries.findings.sectors import is_apart
from explorer.queries.why_facts import code, counted

TITLE = "Elements of a thread"
#: An access of a smaller share of the bytes of a program is no finding.
_LARGE_SHARE = 0.25


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for the access that moves the most bytes, if its tile is too small for the threads."""
    warps = case.options.get("num_warps")
    moved = case.moved_by_place
    access = max(case.accesses, key=lambda each: moved[case.place(each)], default=None)
    if access is None or access.layout is None or not isinstance(warps, int) or warps == 1:
        return
    _, held = possible_bytes(case, access)
    if (
        not 0 < held < LANE_ACCESS_BYTES
        or access.lane_bytes != held
        or is_apart(access)
        or moved[case.place(access)] < _LARGE_SHARE * moved.total()
    ):
        return
    blocks = case.options.get("num_ctas")
    threads = warps * case.target.device.multiprocessor.warp_size * (blocks if isinstance(blocks, int) else 1)
    shape = tuple(case.layouts.layouts[access.layout].shape)
    elements = math.prod(shape)
    line = case.source_line(access.line)
    yield Finding(
        rule="few_elements",
        severity="note",
        text=f"A thread moves only {counted(held, 'byte')} by {code(access.operation)}: the tile has "
        f"{counted(elements, 'element')} for {threads} threads.",
        evidence=(
            Value("bytes of a thread", held, "B", "modelled"),
            Value("elements of the tile", elements, "", "observed"),
            Value("threads", threads, "", "observed"),
        ),
        cause=f"{threads - elements} threads have copies of the elements of others."
        if elements < threads
        else f"A lane can move {LANE_ACCESS_BYTES} bytes at once.",
        advice="Use fewer warps or a larger tile.",
        source_line=line,
        ttgir_line=access.line,
        lines=case.machine_lines([line]),
        changes=(*fewer_warps(case), *larger_blocks(case, shape)),
        tour="layouts",
        terms=("vector-width",),
    )
