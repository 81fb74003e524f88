"""The verdict: the limit of the kernel and its distance from the limit, in a few sentences."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.analysis.roofline.documents import (
    NEAR_SHARE,
    Floor,
    Hint,
    Loss,
    Need,
    Resource,
)
from explorer.analysis.roofline.facts import Facts
from explorer.analysis.roofline.floor import TENSOR_PIPE, all_ceilings, is_exceeded
from explorer.analysis.roofline.numbers import duration, percent, scaled
from explorer.model.measurements import Source

#: From this share on, the binding resource is a limit, if not the only one.
_HALF = 0.5
_OFTEN = 0.3
_LARGE = 0.1
_NEARLY = 0.95
#: Work that takes less time is done while a grid starts and ends.
_TINY_NS = 1_000.0
_LIGHT: dict[Source, str] = {
    "datasheet": "the limit by the datasheet",
    "measured": "the limit measured on this GPU",
}
_WAITS_FOR = {
    "long_scoreboard": "data from global memory",
    "short_scoreboard": "shared memory or the special function units",
    "barrier": "other warps at barriers",
    "lg_throttle": "the queue of memory instructions",
    "mio_throttle": "the queue of shared memory and special functions",
    "math_pipe_throttle": "a busy arithmetic pipe",
    "wait": "the fixed latency of the previous instruction",
    "drain": "the completion of their last stores",
    "no_instruction": "instruction fetches",
    "membar": "memory barriers",
    "sleeping": "the end of nanosleep",
    "warpgroup_arrive": "the matrix units",
    "dispatch_stall": "the dispatcher",
    "imc_miss": "constants that missed the cache",
}


def verdict(
    facts: Facts,
    floors: Sequence[Floor],
    rows: Sequence[Resource],
    losses: Sequence[Loss],
    hints: Sequence[Hint],
) -> str:
    floor = decisive(floors)
    time = duration(facts.time_ns or 0.0)
    if facts.time_ns and rows and any(each.name == "launch" for each in losses):
        return f"The kernel takes {time}, hardly longer than an empty launch. Measure a larger size."
    if floor is None:
        return (
            _exceeded(facts, rows)
            or "The work of the kernel is unknown, so that its limit cannot be computed."
        )
    row = next(each for each in rows if each.name == floor.binding)
    need = next(each for each in row.needs if each.time_ns == floor.time_ns)
    work = _work(row, need)
    if floor.share is None:
        gpu = facts.hardware.name
        if floor.time_ns < _TINY_NS:
            return (
                f"The launch is too small to have a limit: on one {gpu} its work takes less than a "
                "microsecond, and starting and ending a grid takes some microseconds. Choose a larger size."
            )
        how = "Run the kernel on a GPU" if facts.is_modelled else "Measure the time"
        return f"On one {gpu} the kernel takes at least {duration(floor.time_ns)}: {work}. {how} to compare."
    share = f"{percent(floor.share)} of {_LIGHT[need.source]}{_beside(floors, floor, need)}"
    over = _exceeded(facts, rows)
    if floor.share >= NEAR_SHARE:
        remains = _what_remains(facts, row, rows, floor, losses)
        return f"The kernel reaches {share}: of {time}, {work}. {over}{remains}"
    why = over + _why(facts, rows, losses, hints)
    if floor.share >= _HALF:
        return f"The kernel reaches {share}: of {time}, {work}. {why}".rstrip()
    rest = "no resource is near its limit" if _is_dram_known(rows) else "the DRAM traffic is unknown"
    return f"The kernel reaches {share}, and {rest}: of {time}, {work}. {why}".rstrip()


def _beside(floors: Sequence[Floor], floor: Floor, need: Need) -> str:
    """Return the share by the datasheet, if the sentence is about the share of a measured limit."""
    other = next((each.share for each in floors if each is not floor), None)
    return f" ({percent(other)} by the datasheet)" if other is not None and need.source == "measured" else ""


def _exceeded(facts: Facts, rows: Sequence[Resource]) -> str:
    """Name the ceiling that the kernel exceeded, which is not its limit, or return ""."""
    for row in rows:
        need = next((each for each in row.needs if is_exceeded(each)), None)
        if need is None or row.work.is_most or facts.time_ns is None or row.unit == "%":
            continue
        title = row.title[:1].upper() + row.title[1:]
        unit = "instructions/s" if row.unit == "inst" else f"{row.unit}/s"
        rates = (
            f"{scaled(row.work.value / facts.time_ns * 1e9, unit)}, more than the {scaled(need.rate, unit)}"
        )
        by = next(
            (each for each in all_ceilings(facts) if each.name == row.name and each.source == need.source),
            None,
        )
        if need.source == "measured":
            method = f" ({by.method})" if by else ""
            return f"{title} reached {rates} of the kernel that measured its limit{method}. "
        return (
            f"{title} reached {rates} of the datasheet: the clock was higher, or the work was counted in "
            "another launch than the timed one. "
        )
    return ""


def _is_dram_known(rows: Sequence[Resource]) -> bool:
    return any(row.name == "dram" and not row.work.is_most for row in rows)


def decisive(floors: Sequence[Floor]) -> Floor | None:
    """Return the floor that the verdict uses: by measured limits rather than by the datasheet."""
    return max(floors, key=lambda each: each.source == "measured", default=None)


def _work(row: Resource, need: Need) -> str:
    """Describe the work of the binding resource and the time that it needs."""
    time = duration(need.time_ns)
    if row.unit == "%":
        return f"the {row.title} is busy for {time}"
    if row.unit == "inst":
        work, speed = f"{scaled(row.work.value, '')} instructions", f"{scaled(need.rate, '')} per second"
    else:
        work, speed = scaled(row.work.value, row.unit), scaled(need.rate, f"{row.unit}/s")
    return f"{row.title} needs {time} for {work} at {speed}"


def _what_remains(
    facts: Facts, row: Resource, rows: Sequence[Resource], floor: Floor, losses: Sequence[Loss]
) -> str:
    if not row.name.startswith("tensor") and (busy := _busy_matrix_units(facts, rows, losses)):
        return f"{busy} Both limit the kernel: less work for one of them alone does not make it much faster."
    other = next((each for each in rows if each is not row and _is_as_busy(each, floor)), None)
    if other:
        title = other.title[:1].upper() + other.title[1:]
        return f"{title} needs nearly as long: only less work for both makes the kernel much faster."
    if row.kind == "memory":
        return f"Only less traffic through {row.title} makes the kernel much faster."
    return "Only fewer operations, or a type with a higher rate, make the kernel much faster."


def _busy_matrix_units(facts: Facts, rows: Sequence[Resource], losses: Sequence[Loss]) -> str:
    """Return the busy share of the matrix units and the clock that it holds for; "" if they are not near."""
    busy = next((row.work.value for row in rows if row.name == TENSOR_PIPE), 0.0)
    if busy < NEAR_SHARE:
        return ""
    clock = next((each for each in losses if each.name == "clock"), None)
    lower = f" at a lower clock ({facts.clock_mhz:,.0f} MHz)" if clock and facts.clock_mhz else ""
    return f"The matrix units are busy in {percent(busy)} of the cycles{lower}."


def _is_as_busy(row: Resource, floor: Floor) -> bool:
    """Return whether a resource needs nearly as long as the binding one."""
    if row.unit == "%" or row.work.is_most or not row.needs:
        return False
    need = next((need for need in row.needs if need.source == floor.source), row.needs[0])
    return need.time_ns >= _NEARLY * floor.time_ns


def _why(facts: Facts, rows: Sequence[Resource], losses: Sequence[Loss], hints: Sequence[Hint]) -> str:
    """Return the best explanation: busy units, a hint with evidence, a large loss, or stall reasons."""
    if busy := _busy_matrix_units(facts, rows, losses):
        return busy
    large = next((each for each in losses if each.lost_ns and each.share and each.share >= _LARGE), None)
    gain = hints[0].gain_share if hints else None
    if hints and gain and gain >= _LARGE and (large is None or gain >= (large.share or 0)):
        return f"{hints[0].title}."
    if large:
        return large.text
    reason, share = max(facts.stall_shares.items(), key=lambda each: each[1], default=("", 0.0))
    if reason in _WAITS_FOR and share >= _OFTEN:
        return f"In {percent(share)} of the samples warps wait for {_WAITS_FOR[reason]}."
    return "" if facts.stall_shares else "Measure samples to see what the warps wait for."
