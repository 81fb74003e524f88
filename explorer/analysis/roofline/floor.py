"""The least time that a kernel can take: for each resource its work by the rate that it can reach.

A resource is a memory level, the units for a kind of operation, a pipe that the profiler has seen busy, or
the schedulers that issue instructions. All work at the same time at best, so that the longest need of any is
the floor of the whole kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from explorer.analysis.gpus import memory_title
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
from explorer.measurements import Roof, Source

TENSOR_PIPE = "pipe tensor"
_SCHEDULERS = 4
#: A pipe that is busy for less of the time limits nothing.
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
_MOST_ROOFS = 64


def all_ceilings(facts: Facts) -> list[Ceiling]:
    """Those of the datasheet, then those that were reached on the host itself."""
    measured = facts.roofs.roofs[:_MOST_ROOFS] if facts.roofs else ()
    by_name: dict[tuple[Kind, str], list[Roof]] = {}
    for each in measured:
        if amount(each.rate):
            by_name.setdefault((each.kind, each.name), []).append(each)
    return [*facts.hardware.ceilings, *map(_measured, by_name.values())]


def resources(
    facts: Facts, done: Sequence[Operations], moved: Sequence[Traffic], ceilings: Sequence[Ceiling]
) -> list[Resource]:
    """What each resource has to do, and how long it needs at least; those first that need longest.

    Operations whose rate nobody says (integers, conversions) are done by pipes that are rows of their own.
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
    """By the datasheet alone; and, where anything was measured, by what was reached here.

    What nobody has measured counts in the second by the datasheet. How long the matrix units were busy is no
    need of theirs: at a lower clock, they are busy for longer with the same work.
    """
    rows = [row for row in rows if row.name != TENSOR_PIPE and not row.work.is_most]
    found = []
    best = _longest((row.name, _need(row, "datasheet")) for row in rows)
    if best:
        found.append(_floor("datasheet", *best, facts))
    if any(need.source == "measured" for row in rows for need in row.needs):
        best = _longest((row.name, _need(row, "measured") or _need(row, "datasheet")) for row in rows)
        if best:
            found.append(_floor("measured", *best, facts))
    return found


def unit_of(operation: str) -> str:
    """What operations of a kind are counted in."""
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
    needs = [
        _at_rate(each.source, work.value, each.rate, facts)
        for each in ceilings
        if each.kind == kind and each.name == _rate_name(name)
    ]
    return Resource(name, title, kind, work, unit, needs)


def _rate_name(operation: str) -> str:
    """What says how fast it is: the special functions of all types share their units."""
    return "special" if operation.startswith("special ") else operation


def _issue(facts: Facts) -> list[Resource]:
    """Each of the four schedulers of a multiprocessor issues an instruction a clock, on NVIDIA."""
    executed = facts.metric("smsp__inst_executed.sum")
    source: Source = "measured"
    note = "smsp__inst_executed.sum"
    if executed is None and facts.heat and not facts.heat.reason:
        executed = amount(sum(min(each.executed, 2**60) for each in facts.heat.instructions))
        note = facts.heat.tool
    rate = _SCHEDULERS * facts.hardware.multiprocessors * facts.hardware.clock_mhz * 1e6
    if executed is None or rate <= 0 or facts.target.vendor != "NVIDIA":
        return []
    work = Quantity(executed, source, note)
    need = _at_rate("datasheet", executed, rate, facts)
    return [Resource("issue slots", "Issue slots", "compute", work, "inst", [need])]


def _pipes(facts: Facts) -> list[Resource]:
    """A pipe that was busy for a share of the time needs that time, whatever rate it has."""
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


def _need(row: Resource, source: Source) -> Need | None:
    return next((need for need in row.needs if need.source == source), None)


def _longest(needs: Iterable[tuple[str, Need | None]]) -> tuple[str, Need] | None:
    known = [(name, need) for name, need in needs if need]
    return max(known, key=lambda each: each[1].time_ns, default=None)


def _floor(source: Source, name: str, need: Need, facts: Facts) -> Floor:
    return Floor(source, need.time_ns, name, need.time_ns / facts.time_ns if facts.time_ns else None)


def _measured(roofs: Sequence[Roof]) -> Ceiling:
    """The most that was reached of one kind; its method also names the other ways to measure it."""
    best, *others = sorted(roofs, key=lambda roof: -roof.rate)
    title = memory_title(best.name) if best.kind == "memory" else best.name
    unit = "B/s" if best.kind == "memory" else f"{unit_of(best.name)}/s"
    method = "; ".join([best.method, *(f"{each.method}: {scaled(each.rate, unit)}" for each in others)])
    return Ceiling(
        best.name, title[:_MOST_WORDS], best.kind, float(best.rate), "measured", method[:_MOST_WORDS]
    )
