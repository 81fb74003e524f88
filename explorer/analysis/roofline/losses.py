"""Time that is lost beside the work: a partial last wave, idle multiprocessors, a lower clock, the launch.

The loss by waves is an estimate. It assumes that the duration of a block is proportional to its work, and
that blocks have equal work unless TTIR shows unequal work. It overlaps with the time that the resources need.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from explorer.analysis.occupancy.waves import Waves
from explorer.analysis.roofline.documents import Floor, Loss
from explorer.analysis.roofline.facts import Facts
from explorer.analysis.roofline.numbers import duration, percent

#: Below this, starting and ending a grid is a considerable part of the time.
_TINY_NS = 5_000.0
#: A clock below this share of the clock of the datasheet is a loss.
_FULL_CLOCK = 0.97
_WORTH_TELLING = 0.01
_MEMORY = ("dram", "l2")


def losses(facts: Facts, floor: Floor | None, operation: str) -> list[Loss]:
    """Return the losses, the largest first. `operation` is the kind that takes the longest time."""
    found = [each for each in (_waves(facts), _clock(facts, floor, operation), _launch(facts)) if each]
    return sorted(found, key=lambda each: -(each.share or 0.0))


def _waves(facts: Facts) -> Loss | None:
    waves = facts.waves
    if waves is None:
        return None
    if facts.static and len(facts.static.programs) == waves.blocks:
        return _unequal_programs(facts, facts.static.programs, waves)
    count = facts.hardware.multiprocessors
    if waves.waves == 1:
        return _one_wave(facts, count)
    lost = 1 - waves.used_share
    if lost < _WORTH_TELLING:
        return None
    blocks = "block" if waves.tail == 1 else "blocks"
    return Loss(
        "tail",
        "The last wave is partial",
        f"{waves.blocks:,} blocks run in {waves.waves:,} waves of {waves.at_once:,}; the last wave has "
        f"{waves.tail:,} {blocks}. If all blocks take the same time, {percent(lost)} of the GPU is idle.",
        "static",
        lost,
        _of_time(facts, lost),
    )


def _unequal_programs(facts: Facts, programs: Sequence[float], waves: Waves) -> Loss | None:
    """Return the loss if programs have unequal work: some places wait for the end of the longest."""
    mean = sum(programs) / len(programs)
    lost = _idle_share(programs, waves.at_once)
    if lost < _WORTH_TELLING:
        return None
    turned = _idle_share(programs[::-1], waves.at_once)
    advice = f" Launched in the opposite order, {percent(turned)}." if turned < lost / 2 else ""
    return Loss(
        "unequal programs",
        "The programs do not have equal work",
        f"The largest of {len(programs):,} programs has {max(programs) / mean:.1f} times the average work. "
        f"If time is proportional to work and {waves.at_once:,} programs run at the same time, "
        f"{percent(lost)} of the GPU is idle.{advice}",
        "static",
        lost,
        _of_time(facts, lost),
    )


def _idle_share(programs: Sequence[float], places: int) -> float:
    """Return how much of all places is unused if each program starts, in order, at the first free place."""
    free = [0.0] * min(places, len(programs))
    for work in programs:
        heapq.heapreplace(free, free[0] + work)
    return 1 - sum(programs) / (places * max(free))


def _one_wave(facts: Facts, count: int) -> Loss | None:
    """Return the loss if all blocks run at the same time but are not distributed evenly."""
    blocks = facts.blocks
    most = -(-blocks // count)
    lost = 1 - blocks / (most * count)
    if lost < _WORTH_TELLING:
        return None
    if blocks < count:
        text = f"{blocks:,} blocks on {count:,} multiprocessors: {count - blocks:,} are idle."
    else:
        text = f"{blocks:,} blocks on {count:,} multiprocessors: some have {most}, others {most - 1}."
    return Loss(
        "idle multiprocessors", "The multiprocessors do not have equal work", text, "static", lost,
        _of_time(facts, lost),
    )  # fmt: skip


def _clock(facts: Facts, floor: Floor | None, operation: str) -> Loss | None:
    """Compare the clock during the run with the clock of the datasheet."""
    clock, hardware = facts.clock_mhz, facts.hardware
    wanted = hardware.tensor_clock_mhz if operation.startswith("tensor") else hardware.clock_mhz
    if clock is None or not wanted or clock >= _FULL_CLOCK * wanted:
        return None
    lost = 1 - clock / wanted
    reasons = _throttled_by(facts)
    why = f" The driver reports the reason: {', '.join(reasons)}." if reasons else ""
    return Loss(
        "clock",
        "The GPU ran at a lower clock",
        f"The multiprocessors ran at {clock:,.0f} MHz instead of the {wanted:,.0f} MHz of the datasheet. All "
        f"work on a multiprocessor is slower by {percent(lost)}.{why}",
        "measured",
        lost,
        None if floor and floor.binding in _MEMORY else _of_time(facts, lost),
    )


def _throttled_by(facts: Facts) -> list[str]:
    conditions = facts.environment.conditions if facts.environment else ()
    reasons = (reason for each in conditions for reason in each.throttled_by)
    return [reason[:80] for reason in dict.fromkeys(reasons) if "idle" not in reason.lower()][:3]


def _launch(facts: Facts) -> Loss | None:
    if facts.time_ns is None or facts.time_ns >= _TINY_NS:
        return None
    return Loss(
        "launch",
        "The kernel is hardly longer than an empty launch",
        f"The kernel takes {duration(facts.time_ns)}. Starting and ending a grid takes some microseconds in "
        "any case. Measure a larger size.",
        "measured",
        None,
        None,
    )


def _of_time(facts: Facts, lost: float) -> float | None:
    return facts.time_ns * lost if facts.time_ns else None
