"""Advice in the light of the measured times of autotune configurations."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from explorer.model import Scalar
from explorer.model.measurements import Autotuning, ConfigTiming

#: Arguments that are the size of a block in a dimension of the grid, by their names: BLOCK_M, XBLOCK, TILE_N,
#: BM, ROWS. The size in the reduced dimension of a product, such as BLOCK_K, is not among them.
_BLOCK = re.compile(r"(?!.*_K$)(?:.*(?:BLOCK|TILE|ROWS).*|B[MNHWCD])", re.IGNORECASE)
_SPLIT = re.compile(r".*SPLIT.*", re.IGNORECASE)
#: A configuration that takes a larger share of the time is not faster.
_FASTER = 0.97
_MOST_CHARACTERS = 200
_MOST_SIZE = 2**20


@dataclass(frozen=True)
class Change:
    """A change of the configuration: `leads` returns whether it changes one configuration into another.

    `is_of_one_option`: if some configurations differ in nothing else, only these decide.
    """

    name: str
    leads: Callable[[ConfigTiming, ConfigTiming], bool]
    is_of_one_option: bool = False


@dataclass(frozen=True)
class Tried:
    """The present configuration, and the fastest configuration that the advice leads to."""

    now: ConfigTiming
    best: ConfigTiming
    now_ns: float
    best_ns: float

    @property
    def is_faster(self) -> bool:
        return self.best_ns < _FASTER * self.now_ns


def best_change(autotuning: Autotuning | None, config: int | None, change: Change) -> Tried | None:
    """Return the fastest configuration that a change leads to; None if none was timed."""
    configs = autotuning.configs if autotuning else ()
    now = next((each for each in configs if each.config == config), None)
    now_ns = _time_ns(now)
    if now is None or now_ns is None:
        return None
    timed = [(time, each) for each in configs if each is not now and (time := _time_ns(each)) is not None]
    changed = [(time, each) for time, each in timed if change.leads(now, each)]
    if change.is_of_one_option:
        alone = [(time, each) for time, each in changed if len(_differences(now, each)) == 1]
        changed = alone or changed
    found = min(changed, key=lambda each: each[0], default=None)
    return Tried(now, found[1], now_ns, found[0]) if found else None


def describe(config: ConfigTiming) -> str:
    """Return the arguments and options of a configuration, such as "BLOCK_M 128, num_warps 8"."""
    values = {**config.arguments, **config.options}
    words = (f"{name} {value}" for name, value in values.items() if _is_printable(value))
    return ", ".join(words)[:_MOST_CHARACTERS]


def _is_printable(value: Scalar) -> bool:
    """Return whether a value is short enough. Whole numbers of a user's code may have any length."""
    return value is not None and (not isinstance(value, int) or abs(value) <= _MOST_SIZE)


def _time_ns(config: ConfigTiming | None) -> float | None:
    time = config.median_ns if config else None
    return time if time is not None and math.isfinite(time) and time > 0 else None


def _differences(one: ConfigTiming, other: ConfigTiming) -> set[str]:
    first, second = {**one.arguments, **one.options}, {**other.arguments, **other.options}
    return {name for name in first.keys() | second.keys() if first.get(name) != second.get(name)}


def _more(option: str) -> Callable[[ConfigTiming, ConfigTiming], bool]:
    return lambda one, other: _number(one, option) < _number(other, option)


def _fewer(option: str) -> Callable[[ConfigTiming, ConfigTiming], bool]:
    return lambda one, other: _number(one, option) > _number(other, option)


def _number(config: ConfigTiming, option: str) -> float:
    value = config.options.get(option)
    return float(min(max(value, -_MOST_SIZE), _MOST_SIZE)) if isinstance(value, int) else math.nan


def _has_more_programs(one: ConfigTiming, other: ConfigTiming) -> bool:
    """Return whether a tile is smaller in a dimension, or a reduction is split more."""
    return any(
        then < now if _BLOCK.fullmatch(name) else then > now
        for name, now in _sizes(one).items()
        if (then := _sizes(other).get(name)) is not None
    )


def _per_warp(config: ConfigTiming) -> float:
    warps = _number(config, "num_warps")
    return _blocks(config) / warps if warps else math.nan


def _blocks(config: ConfigTiming) -> float:
    """Return the product of the sizes of a tile."""
    return float(math.prod(size for name, size in _sizes(config).items() if _BLOCK.fullmatch(name)))


def _sizes(config: ConfigTiming) -> dict[str, int]:
    """Return the sizes of a tile, and into how many parts a reduction is split, by argument."""
    return {
        name: min(max(value, 1), _MOST_SIZE)
        for name, value in config.arguments.items()
        if isinstance(value, int) and (_BLOCK.fullmatch(name) or _SPLIT.fullmatch(name))
    }


MORE_STAGES = Change("more stages", _more("num_stages"), is_of_one_option=True)
FEWER_WARPS = Change("fewer warps", _fewer("num_warps"), is_of_one_option=True)
LARGER_BLOCKS = Change("larger tiles", lambda one, other: _blocks(one) < _blocks(other))
MORE_PROGRAMS = Change("more programs", _has_more_programs)
MORE_PER_WARP = Change("more of a tile per warp", lambda one, other: _per_warp(one) < _per_warp(other))
LESS_PER_WARP = Change("less of a tile per warp", lambda one, other: _per_warp(one) > _per_warp(other))
