"""The sizes at which occupancy drops: how much shared memory a block may have so that so many blocks fit."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.analysis.occupancy import occupancy


@dataclass(frozen=True)
class OccupancyStep:
    """As long as a block has at most `most_shared_bytes`, `blocks` of it fit on a multiprocessor.

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

    def fitting(shared_bytes: int) -> int:
        result = occupancy(target, threads, registers, shared_bytes)
        return result.blocks_per_multiprocessor if result else 0

    steps: list[OccupancyStep] = []
    low = 0
    while low <= limit_bytes and (blocks := fitting(low)) > 0:
        high = limit_bytes
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if fitting(middle) >= blocks else (low, middle - 1)
        result = occupancy(target, threads, registers, low)
        steps.append(OccupancyStep(blocks, low, result.share if result else 0.0))
        low += 1
    return tuple(steps)
