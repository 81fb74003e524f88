"""The steps of occupancy: the largest shared memory or number of registers for each number of blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from explorer.analysis.occupancy.theoretical import Occupancy, occupancy


@dataclass(frozen=True)
class RegisterStep:
    """With at most `most_registers` per thread, `blocks` fit on a multiprocessor: an occupancy of `share`."""

    blocks: int
    most_registers: int
    share: float


@dataclass(frozen=True)
class OccupancyStep:
    """With at most `most_shared_bytes` per block, `blocks` fit on a multiprocessor.

    `share` is the occupancy that this gives, 0 to 1.
    """

    blocks: int
    most_shared_bytes: int
    share: float


def shared_memory_steps(
    target: str, threads: int, registers: int, limit_bytes: int
) -> tuple[OccupancyStep, ...]:
    """Find the steps, the smallest size first; registers, warps and slots for blocks limit the first one.

    Raises:
        UnknownTarget: there is no such target.
    """
    steps = _steps(limit_bytes, lambda shared_bytes: occupancy(target, threads, registers, shared_bytes))
    return tuple(OccupancyStep(*step) for step in steps)


def register_steps(target: str, threads: int, shared_bytes: int, limit: int) -> tuple[RegisterStep, ...]:
    """Find the steps, the fewest registers first; `limit` is the most that a thread can have.

    Raises:
        UnknownTarget: there is no such target.
    """
    steps = _steps(limit, lambda registers: occupancy(target, threads, registers, shared_bytes))
    return tuple(RegisterStep(*step) for step in steps)


def _steps(limit: int, of: Callable[[int], Occupancy | None]) -> Iterator[tuple[int, int, float]]:
    """Yield the blocks that fit, the largest value with which they fit, and the occupancy, at each change."""

    def fitting(value: int) -> int:
        result = of(value)
        return result.blocks_per_multiprocessor if result else 0

    low = 0
    while low <= limit and (blocks := fitting(low)) > 0:
        high = limit
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fitting(middle) >= blocks else (low, middle - 1)
        result = of(low)
        yield blocks, low, result.share if result else 0.0
        low += 1
