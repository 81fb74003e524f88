"""Hint: the lanes of loads and stores access more sectors of 32 bytes than their data fills."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.case import Case
from explorer.model.hardware import SECTOR_BYTES
from explorer.model.measurements import Source

#: Lines that use a larger share of their sectors have no hint: ends of rows are never full.
_GOOD = 0.75
#: Lines that waste a smaller share of all sectors have no hint, such as one value stored per program.
_WORTH = 0.01
_MOST = 2**53
_MEMORY = ("dram", "l2", "l1")


@dataclass(frozen=True)
class _Line:
    """The sectors that a source line accesses, and the fewest that could hold the same bytes."""

    line: int
    sectors: float
    needed: float

    @property
    def wasted(self) -> float:
        return self.sectors - self.needed


def wasted_share(case: Case) -> float:
    """Return the share of the accessed sectors that is not needed; 0 if unknown."""
    lines = _sampled(case) or _counted(case)
    total = sum(each.sectors for each in lines)
    return sum(each.wasted for each in lines) / total if total else 0.0


def find(case: Case) -> Hint | None:
    """Return the hint for the line that wastes the most sectors."""
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
        f"Line {worst.line} uses {used} of every {SECTOR_BYTES} bytes that it transfers",
        "Memory is read and written in sectors of 32 bytes. Let the lanes of a warp access consecutive "
        "addresses: make the dimension with stride 1 the innermost dimension of the tile, or load through "
        "shared memory or a tensor descriptor.",
        [
            Evidence("sectors accessed", worst.sectors, "", source),
            Evidence("sectors that the bytes need", worst.needed, "", source),
            Evidence("share of all sectors of the kernel", worst.sectors / total, "%", source),
        ],
        worst.line,
        gain,
        cost="A tensor with exchanged dimensions suits this access, but it may not suit other accesses.",
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
