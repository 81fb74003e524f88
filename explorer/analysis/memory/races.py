"""The races of a function without one of its barriers.

In: the graph of a region, with all barriers. Each access is followed through the blocks until it is complete
and a barrier has passed. An asynchronous copy is complete after the wait for its group, and an asynchronous
product after the wait for it; a barrier before that wait does not complete it. Accesses to different slots
of a buffer do not race. A TMA copy is left out as the earlier access: an mbarrier says when it is complete.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from explorer.analysis.memory.hazards import (
    PRODUCT_WAIT,
    WAITS,
    Hazard,
    HazardKind,
    Node,
    Step,
    waited_number,
)
from explorer.analysis.memory.shared_memory import Bytes, SharedMemory
from explorer.analysis.memory.slots import Slot, Slots
from explorer.analysis.mlir.operations import Operation

_COPIES = ("async_copy_global_to_local", "buffer_load_to_local")
#: More iterations and groups than a pipeline keeps under way count as this many.
_MOST = 16


@dataclass(frozen=True)
class _Access:
    """An access. `age`: iterations since. `newer`: groups begun since (None: it is complete)."""

    writes: bool
    bytes: Bytes
    slot: Slot | None
    operation: Operation
    age: int = 0
    newer: int | None = None

    def is_apart_from(self, other: _Access) -> bool:
        """Return whether both accesses are to different slots of one buffer."""
        one, two = self.slot, other.slot
        return (
            self.bytes == other.bytes
            and one is not None
            and two is not None
            and (one.count, one.loop) == (two.count, two.loop)
            and one.number != two.number
        )


@dataclass
class Races:
    """The hazards that are left, and the pairs of operations that use different slots of a buffer."""

    hazards: set[Hazard] = field(default_factory=set)
    apart: set[tuple[HazardKind, Operation, Operation]] = field(default_factory=set)


class RaceFinder:
    """Finds the races in the graph of a region."""

    def __init__(self, graph: list[Node], memory: SharedMemory, slots: Slots) -> None:
        self._graph = graph
        self._index = {id(node): index for index, node in enumerate(graph)}
        #: The loops: positions of the header and of the last block.
        self._loops = {
            index: max(self._index[id(each)] for each in node.preceding)
            for index, node in enumerate(graph)
            if any(self._index[id(each)] >= index for each in node.preceding)
        }
        self._place = {step.operation: index for index, node in enumerate(graph) for step in node.steps}
        self._accesses = {
            step: list(_accesses(step, memory, slots))
            for node in graph
            for step in node.steps
            if not step.is_modelled
        }
        self._counted = {
            access.slot.loop for found in self._accesses.values() for access in found if access.slot
        }

    def find(self, without: Step | None = None) -> Races:
        """Return the races of the region without a barrier."""
        races = Races()
        known: dict[int, set[_Access]] = {id(node): set() for node in self._graph}
        queue = deque(self._graph)
        while queue:
            node = queue.popleft()
            pending = set(known[id(node)])
            for step in node.steps:
                pending = self._after(step, pending, races, is_barrier=step.barrier and step is not without)
            for following in node.following:
                arriving = set(self._moved(node, following, pending))
                if not arriving <= known[id(following)]:
                    known[id(following)] |= arriving
                    queue.append(following)
        return races

    def _after(self, step: Step, pending: set[_Access], races: Races, *, is_barrier: bool) -> set[_Access]:
        name = "" if step.is_modelled else step.operation.name
        if name in WAITS or name == PRODUCT_WAIT:
            number = waited_number(step.operation.text) or 0
            is_waited = _is_product if name == PRODUCT_WAIT else _is_copy
            pending = {
                replace(each, newer=None)
                if each.newer is not None and each.newer >= number and is_waited(each.operation)
                else each
                for each in pending
            }
        if is_barrier:
            return {each for each in pending if each.newer is not None}
        begins = _is_copy if name == "ttg.async_commit_group" else _is_product
        if name == "ttg.async_commit_group" or _is_product(step.operation):
            pending = {
                replace(each, newer=min(each.newer + 1, _MOST))
                if each.newer is not None and begins(each.operation)
                else each
                for each in pending
            }
        now = self._accesses.get(step, ())
        for each in now:
            _compare(pending, each, races)
        if step.uses.scratch is not None:
            # The operation has a barrier between writing and reading its scratch.
            pending = {each for each in pending if each.newer is not None}
            return pending | {_Access(False, step.uses.scratch, None, step.operation)}
        return pending | {each for each in now if not (each.writes and "tma_" in name)}

    def _moved(self, source: Node, target: Node, pending: set[_Access]) -> Iterator[_Access]:
        """Yield the accesses as they are behind a branch: in the next iteration, or in or after a loop."""
        begin, to = self._index[id(source)], self._index[id(target)]
        left = [(first, last) for first, last in self._loops.items() if first <= begin <= last < to]
        headers = {self._graph[first].block for first, _ in left}
        again = (to, begin) if to <= begin else None
        enters = again is None and to in self._loops and target.block in self._counted
        for each in pending:
            slot, age = each.slot, each.age
            place = self._place[each.operation]
            if again and again[0] <= place <= self._loops[to]:
                age = min(age + 1, _MOST)
            if any(first <= place <= last for first, last in left):
                age = 0
            if slot is not None:
                if slot.loop in headers:
                    slot = None
                elif again and slot.loop is target.block:
                    slot = slot.moved(-1)
                elif enters and slot.loop is None:
                    slot = Slot(slot.number, slot.count, target.block)
            yield replace(each, slot=slot, age=age)


def _is_copy(operation: Operation) -> bool:
    return operation.name.rpartition(".")[2] in _COPIES


def _is_product(operation: Operation) -> bool:
    return operation.name == "ttng.warp_group_dot" and "isAsync = true" in operation.text


def _accesses(step: Step, memory: SharedMemory, slots: Slots) -> Iterator[_Access]:
    uses, operation = step.uses, step.operation
    newer = -1 if _is_copy(operation) else 0 if _is_product(operation) else None
    for writes, buffers in ((False, uses.reads), (True, uses.writes)):
        for buffer in buffers:
            found = {
                slots.of(value) for value in operation.operands if buffer in memory.buffers.get(value, ())
            }
            slot = found.pop() if len(found) == 1 else None
            yield _Access(writes, buffer, slot, operation, newer=newer)
    if uses.scratch is not None:
        yield _Access(True, uses.scratch, None, operation)


def _compare(pending: set[_Access], now: _Access, races: Races) -> None:
    for each in pending:
        if not (each.writes or now.writes) or not each.bytes.overlaps(now.bytes):
            continue
        kind: HazardKind = (
            "read after write"
            if not now.writes
            else "write after write"
            if each.writes
            else "write after read"
        )
        if each.is_apart_from(now):
            races.apart.add((kind, each.operation, now.operation))
        else:
            races.hazards.add(
                Hazard(
                    kind,
                    each.operation,
                    now.operation,
                    each.bytes.index,
                    now.bytes.index,
                    max(each.bytes.first, now.bytes.first),
                    min(each.bytes.end, now.bytes.end),
                    each.age,
                )
            )
