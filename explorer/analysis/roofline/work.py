"""What a kernel has done: operations by kind and bytes by memory level, each from the best source there is.

Measured by counters comes first, then counted in the interpreter, then worked out from the program, then
stated by the user's `launch_metadata`. What was counted in a part of the programs is scaled to all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from explorer.analysis.global_access import SECTOR_BYTES
from explorer.analysis.gpus import memory_title
from explorer.analysis.roofline.documents import Operations, Quantity, Traffic
from explorer.analysis.roofline.facts import Facts
from explorer.analysis.roofline.numbers import amount
from explorer.analysis.static_work import element_bytes
from explorer.measurements import Counts, Level

LEVELS: tuple[Level, ...] = ("dram", "l2", "l1", "shared")
_STATED_FLOPS = re.compile(r"flops(8|16|32|64)?$")
_MOST_PROGRAMS = 2**62
_AT_MOST = "as if no lane were masked"


def operations(facts: Facts) -> list[Operations]:
    """Operations by kind, most first; of all kinds from one source, so that they can be compared."""
    sources: tuple[Callable[[Facts], dict[str, Quantity]], ...] = (_measured, _counted, _static, _stated)
    found = next((counts for source in sources if (counts := source(facts))), {})
    return [
        Operations(name, name, count, _rate(count, facts))
        for name, count in sorted(found.items(), key=lambda each: -each[1].value)
    ]


def traffic(facts: Facts) -> list[Traffic]:
    """Bytes by memory level, with the reason where nothing is known."""
    return [_traffic(level, facts) for level in LEVELS]


def tensor_bytes(facts: Facts) -> float | None:
    """The bytes that all tensors of the launch hold together, each counted once."""
    if facts.launch is None:
        return None
    total = 0.0
    for argument in facts.launch.arguments:
        if argument.shape is not None and all(0 <= size < 2**48 for size in argument.shape):
            total += math.prod(map(float, argument.shape)) * element_bytes(argument.type)
    return amount(total)


def grid_factor(counts: Counts) -> float | None:
    """How many times more programs the launch has than were counted."""
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
    if facts.static is None or facts.static.reason:
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
        sectors, note = counts.sectors_in_grid, "every sector once, as by a perfect cache"
    elif level == "l2":
        sectors = counts.loaded_sectors + counts.stored_sectors
        note = "every sector of a program once, as by a perfect L1"
    else:
        sectors, note = sum(each.sectors for each in counts.operations), "every sector that is asked for"
    value = _times(sectors, SECTOR_BYTES * factor)
    if value is None:
        return None
    # Programs share sectors: what a part of them touches in DRAM is not so many times more for all.
    is_most = level == "dram" and factor > 1
    return Quantity(value, "counted", "; ".join(filter(None, (note, part))), is_most)


def _other_bytes(level: Level, facts: Facts) -> Quantity | None:
    """Requested by the program, or stated: what each of these can say of a level."""
    static = facts.static
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
    return Quantity(held, "static", "every tensor once, as by a perfect cache")


def _why_unknown(level: Level, facts: Facts) -> str:
    if facts.counters and facts.counters.reason:
        return facts.counters.reason
    if facts.counters and not facts.counters.reason and level in facts.counters.bytes:
        return "None was counted."
    if level == "shared":
        return "Only counters of the hardware see shared memory."
    return "Neither counters of the hardware nor counts of the interpreter are there: measure either."


def _times(count: int, factor: float) -> float | None:
    """A count, scaled, if both can be true."""
    value = amount(count)
    return None if value is None else amount(value * factor)


def _part(counts: Counts) -> str:
    if counts.programs == counts.grid_programs:
        return ""
    return f"scaled from {counts.programs:,} of {counts.grid_programs:,} programs"


def _rate(quantity: Quantity, facts: Facts) -> float | None:
    return quantity.value / facts.time_ns * 1e9 if facts.time_ns else None
