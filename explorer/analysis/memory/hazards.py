"""The operations of a function as a graph of blocks, and the pairs of them that must stay in order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from explorer.analysis.memory.shared_memory import Uses
from explorer.analysis.mlir.operations import Block, Operation

HazardKind = Literal["read after write", "write after read", "write after write"]

#: Barriers for all threads of a block that order shared memory.
BARRIERS = ("ttg.barrier", "gpu.barrier", "ttg.local_barrier")
#: After these operations the copies of the executing thread are complete; other threads know it only after a
#: barrier.
WAITS = ("ttg.async_wait", "ttng.async_tma_store_wait", "amdg.async_wait", "amdg.async_tdm_wait")
#: After it the products of the executing warp group are complete.
PRODUCT_WAIT = "ttng.warp_group_dot_wait"
_NUMBER = re.compile(r"\b(?:num|pendings) = (\d{1,6}) :")


@dataclass(frozen=True)
class Hazard:
    """Two operations that must stay in order: `before` the barrier and `after` it.

    They touch the bytes from `first` to before `end`. `iterations`: how many iterations of a loop `before` is
    earlier than `after`. `overlaps` is False if the compiler's analysis takes a buffer as a whole, and the
    operations use different slots of it. `races` is False if the pair is the compiler's, and no race was
    found without the barrier.
    """

    kind: HazardKind
    before: Operation
    after: Operation
    before_buffer: int
    after_buffer: int
    first: int
    end: int
    iterations: int
    overlaps: bool = True
    races: bool = True


@dataclass(eq=False)
class Step:
    """An operation with its accesses; `barrier`: all threads of the block wait here.

    `is_modelled`: a barrier before the operation that the text does not have.
    """

    uses: Uses
    barrier: bool = False
    is_modelled: bool = False

    @property
    def operation(self) -> Operation:
        return self.uses.operation


@dataclass(eq=False)
class Node:
    """A block of a region, with its successors and predecessors."""

    block: Block
    steps: list[Step]
    following: list[Node] = field(default_factory=list)
    preceding: list[Node] = field(default_factory=list)


def is_barrier(operation: Operation) -> bool:
    """Return whether an operation is a barrier of the block that orders shared memory."""
    if operation.name == "ttg.barrier":
        return "local" in operation.text or "all" in operation.text
    return operation.name in BARRIERS


def waited_number(wait: str) -> int | None:
    """Return how many groups may be under way after a wait, by its text (None: the text has no number)."""
    found = _NUMBER.search(wait)
    return int(found[1]) if found else None
