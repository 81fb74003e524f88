"""The reads and writes of the buffers of shared memory, from the text of a function.

In: a function, and the buffers of shared memory with the operations that own them. Out: for each value the
buffers that it may be a view of, and for each operation what it reads and writes.

A view (a slot of a pipelined buffer, a slice, a transposition) counts as its whole buffer, and a value that
several blocks pass on counts as all buffers that it may be, as in Triton's own analysis.

Source: lib/Analysis/Alias.cpp, lib/Analysis/Membar.cpp and the effects in the definitions of the dialects
ttg, ttng and amdg, Triton 3.6 and 3.9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from explorer.analysis.mlir.operations import Function, Operation, Region

#: Positions of an operation's results and operands that are the same memory; None: each result is the operand
#: at the same position.
_VIEWS = ("ttg.memdesc_", "amdg.memdesc_", "amdgpu.memdesc_")
_PASSES_ON = ("ttng.warp_group_dot_wait",)

Effect = Literal["", "r", "w", "rw"]

#: The effect of an operation on the buffers among its operands that hold data, by its name without the
#: dialect.
_EFFECTS: dict[str, Effect] = {
    "local_load": "r",
    "local_load_packed_tranposed": "r",
    "local_gather": "r",
    "local_store": "w",
    "local_scatter": "w",
    "local_atomic_scatter_rmw": "rw",
    "async_copy_global_to_local": "w",
    "async_tma_copy_global_to_local": "w",
    "async_tma_gather": "w",
    "async_tdm_copy_global_to_local": "w",
    "buffer_load_to_local": "w",
    "async_copy_local_to_global": "r",
    "async_tma_copy_local_to_global": "r",
    "async_tma_reduce": "r",
    "async_tma_scatter": "r",
    "async_tdm_copy_local_to_global": "r",
    "warp_group_dot": "r",
    "tc_gen5_mma": "r",
    "tc_gen5_mma_scaled": "r",
    "tmem_copy": "r",
    "dot": "r",
}
#: The effect of an operation on mbarriers, which are buffers, too.
_BARRIER_EFFECTS: dict[str, Effect] = {
    "init_barrier": "w",
    "inval_barrier": "w",
    "barrier_expect": "w",
    "wait_barrier": "rw",
    "arrive_barrier": "rw",
    "async_tma_copy_global_to_local": "w",
    "async_tma_gather": "w",
    "async_copy_mbarrier_arrive": "w",
    "tc_gen5_mma": "w",
    "tc_gen5_mma_scaled": "w",
    "tc_gen5_commit": "w",
    "tmem_copy": "w",
}


def effect_of(operation: str, *, is_mbarrier: bool) -> Effect:
    """Return the effect of an operation, by its name, on the buffers among its operands."""
    return (_BARRIER_EFFECTS if is_mbarrier else _EFFECTS).get(operation.rpartition(".")[2], "")


@dataclass(frozen=True)
class Bytes:
    """The bytes of a buffer, with its index."""

    index: int
    first: int
    end: int

    def overlaps(self, other: Bytes) -> bool:
        return self.first < other.end and other.first < self.end


@dataclass(frozen=True)
class Uses:
    """The buffers that an operation reads and writes, and its scratch buffer."""

    operation: Operation
    reads: tuple[Bytes, ...] = ()
    writes: tuple[Bytes, ...] = ()
    scratch: Bytes | None = None


class SharedMemory:
    """The buffers of a function, the values that refer to them, and the operations that use them."""

    def __init__(
        self, function: Function, explicit: Mapping[str, Bytes], scratch: Mapping[Operation, Bytes]
    ) -> None:
        self._function = function
        self._scratch = scratch
        #: For each value the buffers that it may be (a view of).
        self.buffers: dict[str, frozenset[Bytes]] = {
            value: frozenset((buffer,)) for value, buffer in explicit.items()
        }
        self._follow_views()
        #: Buffers that hold mbarriers.
        self.mbarriers: frozenset[Bytes] = frozenset(
            buffer
            for operation in function.operations
            if operation.name.endswith(".init_barrier")
            for value in operation.operands
            for buffer in self.buffers.get(value, ())
        )

    def uses(self, operation: Operation) -> Uses:
        """Return the accesses of an operation to the buffers."""
        reads: dict[Bytes, None] = {}
        writes: dict[Bytes, None] = {}
        if operation.name.endswith(".local_alloc") and operation.operands:
            writes |= dict.fromkeys(self._sorted(operation.results))
        for buffer in self._sorted(operation.operands):
            effect = effect_of(operation.name, is_mbarrier=buffer in self.mbarriers)
            if "r" in effect:
                reads[buffer] = None
            if "w" in effect:
                writes[buffer] = None
        return Uses(operation, tuple(reads), tuple(writes), self._scratch.get(operation))

    def users(self) -> Iterator[tuple[Operation, Bytes]]:
        """Yield every operation with every buffer that it mentions, in order."""
        for operation in self._function.operations:
            for buffer in self._sorted((*operation.operands, *operation.results)):
                yield operation, buffer

    def _sorted(self, values: tuple[str, ...]) -> list[Bytes]:
        found = {buffer for value in values for buffer in self.buffers.get(value, ())}
        return sorted(found, key=lambda buffer: buffer.index)

    def _follow_views(self) -> None:
        """Give results and block arguments the buffers of their sources, until nothing changes."""
        flows = list(_flows(self._function))
        changed = True
        while changed:
            changed = False
            for source, target in flows:
                more = self.buffers.get(source)
                known = self.buffers.get(target, frozenset())
                if more and not more <= known:
                    self.buffers[target] = known | more
                    changed = True


def _flows(function: Function) -> Iterator[tuple[str, str]]:
    """Pairs of values of which the second may be (a view of) the first."""
    for operation in function.operations:
        if operation.name.startswith(_VIEWS):
            yield from ((operation.operands[0], result) for result in operation.results if operation.operands)
        elif operation.name in _PASSES_ON:
            yield from zip(operation.operands, operation.results, strict=False)
        elif operation.name == "arith.select":
            yield from ((value, result) for value in operation.operands for result in operation.results)
        elif operation.name == "ttg.warp_specialize":
            yield from _captures(operation)
        for region in operation.regions:
            yield from _branches(region)


def _captures(operation: Operation) -> Iterator[tuple[str, str]]:
    """Yield the values that a warp specialization passes to its partitions."""
    for region in operation.printed_regions[1:]:
        yield from zip(operation.operands, region.blocks[0].arguments, strict=False)


def _branches(region: Region) -> Iterator[tuple[str, str]]:
    blocks = {block.label: block for block in region.blocks}
    for block in region.blocks:
        for operation in block.operations[-1:]:
            for label, passed in operation.successors:
                if label in blocks:
                    yield from zip(passed, blocks[label].arguments, strict=False)
