"""Loads and stores whose lanes are spread over more sectors of 32 bytes than their bytes need."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from explorer.analysis.global_access import SECTOR_BYTES
from explorer.analysis.hints.case import Case
from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.measurements import Source

#: Lines that use more of their sectors than this are good enough: ends of rows are never full.
_GOOD = 0.75
#: A line that wastes less than this of all sectors is not worth a change: one value that each program stores.
_WORTH = 0.01
_MOST = 2**53
_MEMORY = ("dram", "l2", "l1")


@dataclass(frozen=True)
class _Line:
    """What one source line asks for, and what the same bytes would need at least, in sectors."""

    line: int
    sectors: float
    needed: float

    @property
    def wasted(self) -> float:
        return self.sectors - self.needed


def wasted_share(case: Case) -> float:
    """How much of all sectors that the kernel asks for its bytes do not need; 0 where that is not known."""
    lines = _sampled(case) or _counted(case)
    total = sum(each.sectors for each in lines)
    return sum(each.wasted for each in lines) / total if total else 0.0


def find(case: Case) -> Hint | None:
    """The line that wastes most."""
    sampled = _sampled(case)
    return _hint(case, sampled, "measured") if sampled else _hint(case, _counted(case), "counted")


def _hint(case: Case, lines: list[_Line], source: Source) -> Hint | None:
    total = sum(each.sectors for each in lines)
    worst = max(lines, key=lambda each: each.wasted, default=None)
    if worst is None or worst.needed > _GOOD * worst.sectors or worst.wasted < _WORTH * total:
        return None
    used = max(1, round(SECTOR_BYTES * worst.needed / worst.sectors))
    gain = None
    if case.facts.time_ns:
        gain = min(
            case.facts.time_ns * worst.wasted / total,
            case.facts.time_ns - case.next_need_ns(*_MEMORY),
        )
    return case.hint(
        "scattered",
        f"Line {worst.line} uses {used} of each {SECTOR_BYTES} bytes that it asks for",
        "Memory is read and written in sectors of 32 bytes. Let the lanes of a warp use consecutive "
        "addresses: make the "
        "innermost dimension of the block the one with stride 1, or load through shared memory or a "
        "tensor descriptor.",
        [
            Evidence("sectors asked for", worst.sectors, "", source),
            Evidence("sectors that its bytes need", worst.needed, "", source),
            Evidence("of all sectors of the kernel", worst.sectors / total, "%", source),
        ],
        worst.line,
        gain,
    )


def _sampled(case: Case) -> list[_Line]:
    heat = case.facts.heat
    found: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for each in heat.instructions if heat and not heat.reason else ():
        sectors, ideal = each.sectors, each.sectors_ideal
        if sectors is not None and ideal is not None and 0 < ideal <= sectors <= _MOST:
            found[each.source_line][0] += sectors
            found[each.source_line][1] += ideal
    return [_Line(line, sectors, ideal) for line, (sectors, ideal) in found.items() if line > 0]


def _counted(case: Case) -> list[_Line]:
    found: defaultdict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for each in case.facts.counts.operations if case.facts.counts else ():
        if 0 < each.requested_bytes <= _MOST and 0 < each.sectors <= _MOST:
            found[each.line][0] += each.sectors
            found[each.line][1] += min(each.requested_bytes / SECTOR_BYTES, each.sectors)
    return [_Line(line, sectors, needed) for line, (sectors, needed) in found.items() if line > 0]
