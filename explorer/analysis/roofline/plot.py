"""The plot of a roofline: a dot for each memory level, the relevant ceilings, and their intersections."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.analysis.roofline.documents import (
    Bound,
    Ceiling,
    Dot,
    Operations,
    Resource,
    Ridge,
    Traffic,
)
from explorer.analysis.roofline.floor import unit_of
from explorer.model.measurements import Source

#: Operations whose units need a smaller share of the longest need are not drawn.
_MATTERS = 0.02
_SOURCES: tuple[Source, ...] = ("datasheet", "measured")


def main_operation(done: Sequence[Operations], rows: Sequence[Resource]) -> Operations | None:
    """Return the kind of operation whose units need the longest time; without rates, the most frequent one.

    Only floating point operations: rooflines do not count integers, conversions and special functions, which
    are among the resources.
    """
    need = _needs(rows)
    useful = [each for each in done if unit_of(each.name) == "FLOP" or each.name.startswith("tensor")]
    return max(useful, key=lambda each: (need.get(each.name, 0.0), each.count.value), default=None)


def worth_a_dot(moved: Sequence[Traffic], rows: Sequence[Resource]) -> list[Traffic]:
    """Return the levels with traffic; shared memory only if it takes time, because stores pass through it."""
    need = _needs(rows)
    least = _MATTERS * max(need.values(), default=0.0)
    return [each for each in moved if each.bytes and (each.level != "shared" or need["shared"] >= least)]


def that_matter(
    ceilings: Sequence[Ceiling],
    done: Sequence[Operations],
    moved: Sequence[Traffic],
    rows: Sequence[Resource],
) -> list[Ceiling]:
    """Return the ceilings of levels with traffic, and of operations that take time."""
    need = _needs(rows)
    longest = max((need.get(each.name, 0.0) for each in done), default=0.0)
    names = {each.name for each in done if need.get(each.name, 0.0) >= _MATTERS * longest}
    levels = {each.level for each in moved if each.bytes}
    return [each for each in ceilings if each.name in (levels if each.kind == "memory" else names)]


def dots(operation: Operations | None, moved: Sequence[Traffic], ceilings: Sequence[Ceiling]) -> list[Dot]:
    """Return a dot for each memory level with traffic, for one kind of operation."""
    if operation is None:
        return []
    found = []
    for each in moved:
        if each.bytes is not None:
            intensity = operation.count.value / each.bytes.value
            bounds = [
                bound
                for source in _SOURCES
                if (bound := _bound(source, operation, each.level, intensity, ceilings)) is not None
            ]
            found.append(
                Dot(each.level, each.title, intensity, operation.rate, operation.count, each.bytes, bounds)
            )
    return found


def ridges(
    operation: Operations | None, moved: Sequence[Traffic], ceilings: Sequence[Ceiling]
) -> list[Ridge]:
    """Return where the roof of each level meets the ceiling of the operation, by ceilings of one source."""
    if operation is None:
        return []
    levels = [each.level for each in moved if each.bytes]
    found = []
    for source in _SOURCES:
        top = _rate(ceilings, operation.name, source)
        for level in levels:
            slope = _rate(ceilings, level, source)
            if top and slope:
                found.append(Ridge(level, operation.name, top / slope, top, source))
    return found


def _bound(
    source: Source, operation: Operations, level: str, intensity: float, ceilings: Sequence[Ceiling]
) -> Bound | None:
    """Return the bound of a level; None if the level has no roof."""
    slope, top = _rate(ceilings, level, source), _rate(ceilings, operation.name, source)
    if slope is None:
        return None
    reachable = {level: slope * intensity}
    if top:
        reachable[operation.name] = top
    by = min(reachable, key=lambda name: reachable[name])
    rate = reachable[by]
    return Bound(source, rate, by, operation.rate / rate if operation.rate else None)


def _rate(ceilings: Sequence[Ceiling], name: str, source: Source) -> float | None:
    return next((each.rate for each in ceilings if each.name == name and each.source == source), None)


def _needs(rows: Sequence[Resource]) -> dict[str, float]:
    return {row.name: max((need.time_ns for need in row.needs), default=0.0) for row in rows}
