"""The floor: the shortest time that a kernel can take, from the work and the rate of each resource.

A resource is a memory level, the units for a kind of operation, a pipe that the profiler saw busy, or the
schedulers that issue instructions. At best all of them work at the same time, so that the longest need of a
resource is the floor of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from explorer.analysis.roofline.ceilings import memory_title
from explorer.analysis.roofline.documents import (
    Ceiling,
    Floor,
    Kind,
    Need,
    Operations,
    Quantity,
    Resource,
    Traffic,
)
from explorer.analysis.roofline.facts import Facts
from explorer.analysis.roofline.numbers import amount, scaled, share
from explorer.model.measurements import Roof, Source

TENSOR_PIPE = "pipe tensor"
_SCHEDULERS = 4
#: Memory that all multiprocessors share. A launch of few blocks has the other resources of few
#: multiprocessors.
_SHARED_BY_ALL = ("dram", "l2")
#: Pipes that are busy for a smaller share of the time are left out.
_WORTH_TELLING = 0.05
_PIPES = {
    "adu": "ADU pipe (addresses)",
    "alu": "ALU pipe (integers, logic)",
    "cbu": "CBU pipe (branches)",
    "fma": "FMA pipe (fp32, multiply)",
    "fp64": "FP64 pipe",
    "lsu": "LSU pipe (load, store)",
    "tensor": "Tensor pipe",
    "tex": "TEX pipe",
    "tma": "TMA (bulk copies)",
    "uniform": "Uniform pipe",
    "xu": "XU pipe (special functions)",
}
_MOST_WORDS = 300
#: A larger share of the time is not an error of rounding.
_EXCEEDED = 1.005
_MOST_ROOFS = 64


def all_ceilings(facts: Facts) -> list[Ceiling]:
    """Return the ceilings of the datasheet, then the measured ceilings."""
    measured = facts.roofs.roofs[:_MOST_ROOFS] if facts.roofs else ()
    by_name: dict[tuple[Kind, str], list[Roof]] = {}
    for each in measured:
        if amount(each.rate):
            by_name.setdefault((each.kind, each.name), []).append(each)
    return [*facts.hardware.ceilings, *map(_measured, by_name.values())]


def resources(
    facts: Facts, done: Sequence[Operations], moved: Sequence[Traffic], ceilings: Sequence[Ceiling]
) -> list[Resource]:
    """Return the work and the shortest time of each resource, the longest time first.

    Operations without a known rate (integers, conversions) are part of the pipes, which have their own rows.
    """
    rows = [
        _resource(facts, each.level, each.title, "memory", each.bytes, "B", ceilings)
        for each in moved
        if each.bytes
    ]
    units = [
        _resource(facts, each.name, each.title, "compute", each.count, unit_of(each.name), ceilings)
        for each in done
    ]
    rows += [row for row in units if row.needs]
    rows += _issue(facts)
    rows += _pipes(facts)
    return sorted(rows, key=lambda row: -max((need.time_ns for need in row.needs), default=0.0))


def floors(facts: Facts, rows: Iterable[Resource]) -> list[Floor]:
    """Return the floor by the datasheet and, if anything was measured, the floor by measured ceilings.

    In the second, resources without a measured ceiling count by the datasheet. The busy time of the matrix
    units is not a need: at a lower clock they are busy for longer with the same work. A ceiling that the
    kernel exceeded is not a limit, and its time is not a bound.
    """
    rows = [row for row in rows if row.name != TENSOR_PIPE and not row.work.is_most]
    found = []
    best = _longest((row.name, _bound(row, "datasheet")) for row in rows)
    if best:
        found.append(_floor("datasheet", *best, facts))
    if any(_bound(row, "measured") for row in rows):
        best = _longest((row.name, _bound(row, "measured") or _bound(row, "datasheet")) for row in rows)
        if best:
            found.append(_floor("measured", *best, facts))
    return found


def is_exceeded(need: Need) -> bool:
    """Return whether the kernel was faster than the ceiling allows: the ceiling is then not its limit."""
    return need.share is not None and need.share > _EXCEEDED


def unit_of(operation: str) -> str:
    return "OP" if "int" in operation or operation.startswith(("special", "conversion")) else "FLOP"


def _resource(
    facts: Facts,
    name: str,
    title: str,
    kind: Kind,
    work: Quantity,
    unit: str,
    ceilings: Sequence[Ceiling],
) -> Resource:
    share = 1.0 if name in _SHARED_BY_ALL else facts.busy_share
    needs = [
        _at_rate(each.source, work.value, each.rate * share, facts)
        for each in ceilings
        if each.kind == kind and each.name == _rate_name(name)
    ]
    return Resource(name, title, kind, work, unit, needs)


def _rate_name(operation: str) -> str:
    """Return the name of an operation's ceiling: the special functions of all types share their units."""
    return "special" if operation.startswith("special ") else operation


def _issue(facts: Facts) -> list[Resource]:
    """Each of the four schedulers of a multiprocessor issues an instruction a clock, on NVIDIA."""
    executed = facts.metric("smsp__inst_executed.sum")
    source: Source = "measured"
    note = "smsp__inst_executed.sum"
    if executed is None and facts.heat and not facts.heat.reason:
        executed = amount(sum(min(each.executed, 2**60) for each in facts.heat.instructions))
        note = facts.heat.tool
    busy = facts.hardware.multiprocessors * facts.busy_share
    rate = _SCHEDULERS * busy * facts.hardware.clock_mhz * 1e6
    if executed is None or rate <= 0 or facts.target.vendor != "NVIDIA":
        return []
    work = Quantity(executed, source, note)
    need = _at_rate("datasheet", executed, rate, facts)
    return [Resource("issue slots", "Issue slots", "compute", work, "inst", [need])]


def _pipes(facts: Facts) -> list[Resource]:
    """Return the pipes: a pipe that was busy for a share of the time needs that time."""
    if facts.time_ns is None or facts.counters is None or facts.counters.reason:
        return []
    rows = []
    for name, value in facts.counters.pipes.items():
        busy = share(value)
        if busy and busy >= _WORTH_TELLING:
            work = Quantity(busy, "measured", f"of the cycles of busy multiprocessors, {facts.counters.tool}")
            need = Need("measured", 1.0, busy * facts.time_ns, busy)
            rows.append(Resource(f"pipe {name}", _pipe_title(name), "compute", work, "%", [need]))
    return rows


def _pipe_title(name: str) -> str:
    return _PIPES.get(name, f"{name[:_MOST_WORDS]} pipe")


def _at_rate(source: Source, work: float, rate: float, facts: Facts) -> Need:
    time = work / rate * 1e9
    return Need(source, rate, time, time / facts.time_ns if facts.time_ns else None)


def _bound(row: Resource, source: Source) -> Need | None:
    return next((need for need in row.needs if need.source == source and not is_exceeded(need)), None)


def _longest(needs: Iterable[tuple[str, Need | None]]) -> tuple[str, Need] | None:
    known = [(name, need) for name, need in needs if need]
    return max(known, key=lambda each: each[1].time_ns, default=None)


def _floor(source: Source, name: str, need: Need, facts: Facts) -> Floor:
    return Floor(source, need.time_ns, name, need.time_ns / facts.time_ns if facts.time_ns else None)


def _measured(roofs: Sequence[Roof]) -> Ceiling:
    """Return the highest of the measured roofs of one kind; its method names all of them."""
    best, *others = sorted(roofs, key=lambda roof: -roof.rate)
    title = memory_title(best.name) if best.kind == "memory" else best.name
    unit = "B/s" if best.kind == "memory" else f"{unit_of(best.name)}/s"
    method = "; ".join([best.method, *(f"{each.method}: {scaled(each.rate, unit)}" for each in others)])
    return Ceiling(
        best.name, title[:_MOST_WORDS], best.kind, float(best.rate), "measured", method[:_MOST_WORDS]
    )
