"""One or two plain sentences: how far the kernel is from what limits it, and what that is."""

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
from explorer.analysis.roofline.floor import TENSOR_PIPE, all_ceilings
from explorer.analysis.roofline.numbers import duration, percent, scaled
from explorer.measurements import Source

#: Above it something is a limit, if not the only one.
_HALF = 0.5
_OFTEN = 0.3
_LARGE = 0.1
_NEARLY = 0.95
#: From here on a share is more than 100 % where it is shown.
_OVER = 1.005
_LIGHT: dict[Source, str] = {
    "datasheet": "the speed of light by the datasheet",
    "measured": "what this GPU was seen to reach",
}
_WAITS_FOR = {
    "long_scoreboard": "data from global memory",
    "short_scoreboard": "shared memory or the special function units",
    "barrier": "each other, at barriers",
    "lg_throttle": "the queue of memory instructions",
    "mio_throttle": "the queue of shared memory and special functions",
    "math_pipe_throttle": "a busy arithmetic pipe",
    "wait": "the fixed latency of the instruction before",
    "drain": "their last stores to leave",
    "no_instruction": "instructions to be fetched",
    "membar": "memory barriers",
    "sleeping": "the end of a sleep",
    "warpgroup_arrive": "the matrix units",
    "dispatch_stall": "the dispatcher",
    "imc_miss": "constants from memory",
}


def verdict(
    facts: Facts,
    floors: Sequence[Floor],
    rows: Sequence[Resource],
    losses: Sequence[Loss],
    hints: Sequence[Hint],
) -> str:
    """Say it."""
    floor = decisive(floors)
    if floor is None:
        return "What it has done is not known, so that nothing can be said of how fast it could be."
    row = next(each for each in rows if each.name == floor.binding)
    need = next(each for each in row.needs if each.time_ns == floor.time_ns)
    work = _work(row, need)
    if floor.share is None:
        gpu = facts.hardware.name
        how = "Run it on a GPU" if facts.is_modelled else "Measure the time"
        return f"On one {gpu} it takes at least {duration(floor.time_ns)}: {work}. {how} to compare."
    time = duration(facts.time_ns or 0.0)
    if any(each.name == "launch" for each in losses):
        return f"It takes {time}, hardly longer than a launch that does nothing. Measure a larger size."
    share = f"{percent(floor.share)} of {_LIGHT[need.source]}{_beside(floors, floor, need)}"
    if floor.share >= NEAR_SHARE:
        over = _over(facts, row, need) if floor.share >= _OVER else ""
        return f"It runs at {share}: of {time}, {work}. {over}{_what_remains(row, rows, floor)}"
    why = _why(facts, rows, losses, hints)
    if floor.share >= _HALF:
        return f"It runs at {share}: of {time}, {work}. {why}".rstrip()
    rest = "nothing is near its limit" if _is_dram_known(rows) else "what DRAM moves is not known"
    return f"It runs at {share}, and {rest}: of {time}, {work}. {why}".rstrip()


def _beside(floors: Sequence[Floor], floor: Floor, need: Need) -> str:
    """What the datasheet alone says, where the sentence is about what was reached."""
    other = next((each.share for each in floors if each is not floor), None)
    return f" ({percent(other)} by the datasheet)" if other is not None and need.source == "measured" else ""


def _over(facts: Facts, row: Resource, need: Need) -> str:
    """Why a share is more than 100 %: a measured roof is the most that was reached by something else."""
    by = next(
        (each for each in all_ceilings(facts) if each.name == row.name and each.rate == need.rate), None
    )
    if by is None or by.source != "measured":
        return ""
    return f"That is more than 100 %, for it is faster than what the roof was measured by ({by.method}). "


def _is_dram_known(rows: Sequence[Resource]) -> bool:
    return any(row.name == "dram" and not row.work.is_most for row in rows)


def decisive(floors: Sequence[Floor]) -> Floor | None:
    """The floor to judge by: what was reached on the host tells more than a datasheet."""
    return max(floors, key=lambda each: each.source == "measured", default=None)


def _work(row: Resource, need: Need) -> str:
    """What the binding resource does in the time that it needs."""
    time = duration(need.time_ns)
    if row.unit == "%":
        return f"the {row.title} is busy for {time}"
    if row.unit == "inst":
        work, speed = f"{scaled(row.work.value, '')} instructions", f"{scaled(need.rate, '')} a second"
    else:
        work, speed = scaled(row.work.value, row.unit), scaled(need.rate, f"{row.unit}/s")
    return f"{row.title} needs {time} for {work} at {speed}"


def _what_remains(row: Resource, rows: Sequence[Resource], floor: Floor) -> str:
    other = next((each for each in rows if each is not row and _is_as_busy(each, floor)), None)
    if other:
        title = other.title[:1].upper() + other.title[1:]
        return f"{title} needs nearly as long: only less work for both can make it much faster."
    if row.kind == "memory":
        return f"Only moving less through {row.title} can make it much faster."
    return "Only doing less, or in a cheaper type, can make it much faster."


def _is_as_busy(row: Resource, floor: Floor) -> bool:
    """Whether a resource needs nearly as long as that which makes the floor."""
    if row.unit == "%" or row.work.is_most or not row.needs:
        return False
    need = next((need for need in row.needs if need.source == floor.source), row.needs[0])
    return need.time_ns >= _NEARLY * floor.time_ns


def _why(facts: Facts, rows: Sequence[Resource], losses: Sequence[Loss], hints: Sequence[Hint]) -> str:
    """The best reason there is: busy units, a hint with evidence, a large loss, what the warps wait for."""
    busy = next((row.work.value for row in rows if row.name == TENSOR_PIPE), 0.0)
    if busy >= NEAR_SHARE:
        clock = next((each for each in losses if each.name == "clock"), None)
        lower = f" at a lower clock ({facts.clock_mhz:,.0f} MHz)" if clock and facts.clock_mhz else ""
        return f"The matrix units are busy in {percent(busy)} of the cycles{lower}."
    large = next((each for each in losses if each.lost_ns and each.share and each.share >= _LARGE), None)
    gain = hints[0].gain_share if hints else None
    if hints and gain and gain >= _LARGE and (large is None or gain >= (large.share or 0)):
        return f"{hints[0].title}."
    if large:
        return large.text
    reason, share = max(facts.stall_shares.items(), key=lambda each: each[1], default=("", 0.0))
    if reason in _WAITS_FOR and share >= _OFTEN:
        return f"In {percent(share)} of the samples warps wait for {_WAITS_FOR[reason]}."
    return "" if facts.stall_shares else "Sample it to learn what the warps wait for."
