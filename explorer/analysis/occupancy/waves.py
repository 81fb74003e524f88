"""The waves of a grid and their tail, in a model in which all blocks take the same time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Waves:
    """`blocks` is the number of blocks. The GPU holds `at_once`; the last wave has `tail` blocks.

    `used_share` is the used share of the time of all places: 1 if the last wave is full.
    """

    blocks: int
    at_once: int
    waves: int
    tail: int
    used_share: float


def waves(blocks: int, blocks_per_multiprocessor: int, multiprocessors: int) -> Waves | None:
    """Count the waves; None if not even one block fits, or the grid is empty."""
    at_once = blocks_per_multiprocessor * multiprocessors
    if at_once <= 0 or blocks <= 0:
        return None
    count = -(-blocks // at_once)
    return Waves(blocks, at_once, count, blocks - (count - 1) * at_once, blocks / (count * at_once))
