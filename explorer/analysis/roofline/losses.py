"""What takes time beside the work: a last wave that is not full, multiprocessors without work, a lower clock,
and the launch itself.

Waves are a model: all blocks take the same time. What they lose is therefore an estimate, and it overlaps
with what the resources need.
"""

from __future__ import annotations

from explorer.analysis.roofline.documents import Floor, Loss
from explorer.analysis.roofline.facts import Facts
from explorer.analysis.roofline.numbers import duration, percent

#: Below this, starting and ending a grid is a good part of the time.
_TINY_NS = 5_000.0
#: A clock below this share of the one behind the datasheet's figures is worth a word.
_FULL_CLOCK = 0.97
_WORTH_TELLING = 0.01
_MEMORY = ("dram", "l2")


def losses(facts: Facts, floor: Floor | None, operation: str) -> list[Loss]:
    """All that is known, largest first. `operation` is the kind that takes longest."""
    found = [each for each in (_waves(facts), _clock(facts, floor, operation), _launch(facts)) if each]
    return sorted(found, key=lambda each: -(each.share or 0.0))


def _waves(facts: Facts) -> Loss | None:
    waves = facts.waves
    if waves is None:
        return None
    count = facts.hardware.multiprocessors
    if waves.waves == 1:
        return _one_wave(facts, count)
    lost = 1 - waves.used_share
    if lost < _WORTH_TELLING:
        return None
    blocks = "block" if waves.tail == 1 else "blocks"
    return Loss(
        "tail",
        "The last wave is not full",
        f"{waves.blocks:,} blocks run in {waves.waves:,} waves of {waves.at_once:,}; the last wave has "
        f"{waves.tail:,} "
        f"{blocks}. If all blocks take the same time, {percent(lost)} of the places are empty.",
        "static",
        lost,
        _of_time(facts, lost),
    )


def _one_wave(facts: Facts, count: int) -> Loss | None:
    """All blocks run at once: what counts is how evenly they fill the multiprocessors."""
    blocks = facts.blocks
    most = -(-blocks // count)
    lost = 1 - blocks / (most * count)
    if lost < _WORTH_TELLING:
        return None
    if blocks < count:
        text = f"{blocks:,} blocks on {count:,} multiprocessors: {count - blocks:,} have nothing to do."
    else:
        text = f"{blocks:,} blocks on {count:,} multiprocessors: some have {most}, others {most - 1} only."
    return Loss(
        "idle multiprocessors", "Not all multiprocessors have the same work", text, "static", lost,
        _of_time(facts, lost),
    )  # fmt: skip


def _clock(facts: Facts, floor: Floor | None, operation: str) -> Loss | None:
    """The clock during the run against the clock of the datasheet's figures."""
    clock, hardware = facts.clock_mhz, facts.hardware
    wanted = hardware.tensor_clock_mhz if operation.startswith("tensor") else hardware.clock_mhz
    if clock is None or not wanted or clock >= _FULL_CLOCK * wanted:
        return None
    lost = 1 - clock / wanted
    reasons = _throttled_by(facts)
    why = f" The driver says why: {', '.join(reasons)}." if reasons else ""
    return Loss(
        "clock",
        "The GPU ran at a lower clock",
        f"The multiprocessors ran at {clock:,.0f} MHz, the figures of the datasheet are for {wanted:,.0f}: "
        "all that is "
        f"done on a multiprocessor is slower by {percent(lost)}.{why}",
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
        "The kernel is hardly longer than its launch",
        f"It takes {duration(facts.time_ns)}; to start and to end a grid takes some microseconds in any "
        "case. Measure "
        "at a larger size to learn about the kernel itself.",
        "measured",
        None,
        None,
    )


def _of_time(facts: Facts, lost: float) -> float | None:
    return facts.time_ns * lost if facts.time_ns else None
