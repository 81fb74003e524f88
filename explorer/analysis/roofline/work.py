"""The work of a kernel: operations by kind and bytes by memory level, each from the best source.

Hardware counters come first, then counts of the interpreter, then an analysis of the program, then the
`launch_metadata` of the source. Counts of some programs are scaled to the whole grid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from explorer.analysis.roofline.ceilings import memory_title
from explorer.analysis.roofline.documents import Operations, Quantity, Traffic
from explorer.analysis.roofline.facts import Facts
from explorer.analysis.roofline.numbers import amount
from explorer.analysis.roofline.static_work import element_bytes
from explorer.model.hardware import SECTOR_BYTES
from explorer.model.measurements import Counts, Level

LEVELS: tuple[Level, ...] = ("dram", "l2", "l1", "shared")
_STATED_FLOPS = re.compile(r"flops(8|16|32|64)?$")
_MOST_PROGRAMS = 2**62
_AT_MOST = "as if no lane were masked"


def operations(facts: Facts) -> list[Operations]:
    """Operations by kind, most first. All kinds have one source, so that they can be compared."""
    sources: tuple[Callable[[Facts], dict[str, Quantity]], ...] = (_measured, _counted, _static, _stated)
    found = next((counts for source in sources if (counts := source(facts))), {})
    return [
        Operations(name, name, count, _rate(count, facts))
        for name, count in sorted(found.items(), key=lambda each: -each[1].value)
    ]


def traffic(facts: Facts) -> list[Traffic]:
    """Bytes by memory level, with the reason if they are unknown."""
    return [_traffic(level, facts) for level in LEVELS]


def tensor_bytes(facts: Facts) -> float | None:
    """Return the bytes of the tensors of the launch: each tensor counts once if it is read, and once if it is
    written.

    A tensor that a kernel changes in place counts twice. If it is unknown what the kernel reads and writes,
    each tensor counts once.
    """
    if facts.launch is None:
        return None
    loaded, stored = (facts.static.loaded, facts.static.stored) if facts.static else (None, None)
    total = 0.0
    for argument in facts.launch.arguments:
        if argument.shape is not None and all(0 <= size < 2**48 for size in argument.shape):
            times = 1
            if loaded is not None and stored is not None:
                times = (argument.name in loaded) + (argument.name in stored)
            total += times * math.prod(map(float, argument.shape)) * element_bytes(argument.type)
    return amount(total)


def grid_factor(counts: Counts) -> float | None:
    """Return the number of programs of the launch divided by the number of counted programs."""
    if not 0 < counts.programs <= counts.grid_programs <= _MOST_PROGRAMS:
        return None
    return counts.grid_programs / counts.programs


def _measured(facts: Facts) -> dict[str, Quantity]:
    counters = facts.counters
    if counters is None or counters.reason:
        return {}
    return {
        name: Quantity(value, counters.source, counters.tool)
        for name, each in counters.operations.items()
        if (value := amount(each)) is not None
    }


def _counted(facts: Facts) -> dict[str, Quantity]:
    counts = facts.counts
    factor = grid_factor(counts) if counts else None
    if counts is None or factor is None:
        return {}
    return {
        name: Quantity(value, "counted", _part(counts))
        for name, each in counts.flops.items()
        if (value := _times(each, factor)) is not None
    }


def _static(facts: Facts) -> dict[str, Quantity]:
    if facts.static is None or facts.static.reason or facts.is_counted:
        return {}
    return {
        name: Quantity(value, "static", "TTIR × trip counts × grid")
        for name, each in facts.static.operations.items()
        if (value := amount(each)) is not None
    }


def _stated(facts: Facts) -> dict[str, Quantity]:
    """Triton's own names: "flops16" are operations on 16 bits; on matrix units, if the kernel uses them."""
    found = {}
    for name, each in (facts.launch.stated if facts.launch else {}).items():
        flops, value = _STATED_FLOPS.fullmatch(name), amount(each)
        if flops and value is not None:
            found[_stated_kind(flops[1] or "32", facts)] = Quantity(
                value, "stated", f"launch_metadata, {name}"
            )
    return found


def _stated_kind(bits: str, facts: Facts) -> str:
    if not facts.tensor_instructions:
        return f"fp{bits}"
    return "tensor tf32" if bits == "32" else f"tensor fp{bits}"


def _traffic(level: Level, facts: Facts) -> Traffic:
    found = _measured_bytes(level, facts) or _counted_bytes(level, facts) or _other_bytes(level, facts)
    title = memory_title(level)
    if found is None:
        return Traffic(level, title, None, None, _why_unknown(level, facts))
    return Traffic(level, title, found, _rate(found, facts))


def _measured_bytes(level: Level, facts: Facts) -> Quantity | None:
    counters = facts.counters
    if counters is None or counters.reason:
        return None
    value = amount(counters.bytes.get(level))
    if value is None:
        return None
    return Quantity(value, counters.source, f"{counters.tool}, {counters.cache} cache")


def _counted_bytes(level: Level, facts: Facts) -> Quantity | None:
    counts = facts.counts
    factor = grid_factor(counts) if counts else None
    if counts is None or factor is None or level == "shared":
        return None
    part = _part(counts)
    if level == "dram":
        both = counts.loaded_sectors_in_grid + counts.stored_sectors_in_grid
        sectors, note = (
            both or counts.sectors_in_grid,
            "every sector read and written once, as by a perfect cache",
        )
    elif level == "l2":
        sectors = counts.loaded_sectors + counts.stored_sectors
        note = "every sector of a program once, as by a perfect L1"
    else:
        sectors, note = sum(each.sectors for each in counts.operations), "every sector that is asked for"
    value = _times(sectors, SECTOR_BYTES * factor)
    if value is None:
        return None
    # Programs share sectors: the DRAM traffic of all programs is not a multiple of the traffic of some.
    is_most = level == "dram" and factor > 1
    return Quantity(value, "counted", "; ".join(filter(None, (note, part))), is_most)


def _other_bytes(level: Level, facts: Facts) -> Quantity | None:
    """Return the traffic of a level as requested by the program, or as the launch states it."""
    static = None if facts.is_counted else facts.static
    requested = amount(static.requested_bytes) if static and not static.reason else None
    is_masked = static is not None and static.is_masked
    note = _AT_MOST if is_masked else ""
    if level == "l1" and requested is not None:
        return Quantity(requested, "static", note, is_masked)
    if level == "l2" and requested is not None:
        return Quantity(
            requested, "static", "; ".join(filter(None, (note, "as if the L1 kept nothing"))), True
        )
    if level != "dram":
        return None
    stated = amount(facts.launch.stated.get("bytes")) if facts.launch else None
    held = tensor_bytes(facts)
    if requested is None or held is None:
        return None if stated is None else Quantity(stated, "stated", "launch_metadata, bytes")
    if requested < held:
        words = "; ".join(filter(None, (note, "less than the tensors hold")))
        return Quantity(requested, "static", words, is_masked)
    if stated is not None:
        return Quantity(stated, "stated", "launch_metadata, bytes")
    return Quantity(held, "static", "every tensor read and written once, as by a perfect cache")


def _why_unknown(level: Level, facts: Facts) -> str:
    if facts.counters and facts.counters.reason:
        return facts.counters.reason
    if facts.counters and not facts.counters.reason and level in facts.counters.bytes:
        return "The counters have no value for it."
    if level == "shared":
        return "Only hardware counters measure shared memory."
    return "The run has neither hardware counters nor counts of the interpreter. Measure one of them."


def _times(count: int, factor: float) -> float | None:
    """Return a scaled count; None if one of the numbers is out of range."""
    value = amount(count)
    return None if value is None else amount(value * factor)


def _part(counts: Counts) -> str:
    if counts.programs == counts.grid_programs:
        return ""
    return f"scaled from {counts.programs:,} of {counts.grid_programs:,} programs"


def _rate(quantity: Quantity, facts: Facts) -> float | None:
    return quantity.value / facts.time_ns * 1e9 if facts.time_ns else None
