"""The barriers of a kernel, and the hazards that each of them prevents.

In: a function with its buffers (`shared_memory`). Out: for each barrier the pairs of operations before and
after it that would race without the barrier (`races`). Where there is none, the pairs are the compiler's,
which takes a buffer as a whole: it also puts a barrier between accesses to different slots.

Where the text has no barriers yet, because Triton 3.6 for NVIDIA inserts them while it lowers to LLVM,
`Barriers.model` says where they will be, by the same rules.

Source: lib/Analysis/Membar.cpp of Triton 3.6, and the filter for NVIDIA in
third_party/nvidia/lib/TritonNVIDIAGPUToLLVM; checked against the barriers in the LLVM IR of the gallery.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from explorer.analysis.memory.hazards import (
    PRODUCT_WAIT,
    WAITS,
    Hazard,
    HazardKind,
    Node,
    Step,
    is_barrier,
)
from explorer.analysis.memory.races import RaceFinder
from explorer.analysis.memory.shared_memory import Bytes, SharedMemory, Uses
from explorer.analysis.memory.slots import Slots
from explorer.analysis.mlir.operations import Block, Function, Operation, Region

#: Pairs of operations on an mbarrier that need no barrier between them.
_SAME_MBARRIER = (
    frozenset({"ttng.init_barrier"}),
    frozenset({"ttng.inval_barrier"}),
    frozenset(
        {
            "ttng.wait_barrier",
            "ttng.async_tma_copy_global_to_local",
            "ttng.async_tma_gather",
            "ttng.barrier_expect",
        }
    ),
)
_WARP_GROUP = 4


@dataclass(frozen=True)
class Placed:
    """A barrier: its operation (None: modelled), the operation after it, and the hazards that it prevents."""

    operation: Operation | None
    following: Operation | None
    hazards: list[Hazard]


@dataclass
class _Pending:
    """Accesses before or after a point, with no barrier in between."""

    reads: set[tuple[Bytes, Operation]] = field(default_factory=set)
    writes: set[tuple[Bytes, Operation]] = field(default_factory=set)

    def copy(self) -> _Pending:
        return _Pending(set(self.reads), set(self.writes))

    def add(self, other: _Pending) -> bool:
        before = len(self.reads) + len(self.writes)
        self.reads |= other.reads
        self.writes |= other.writes
        return len(self.reads) + len(self.writes) > before

    def clear(self) -> None:
        self.reads.clear()
        self.writes.clear()


class Barriers:
    """The barriers of a function: those in its text, and after `model` also the modeled barriers.

    With `warps`, the warps of a block, a wait for products of several warp groups has a barrier, which the
    lowering to LLVM makes of it (Triton 3.9).
    """

    def __init__(self, function: Function, memory: SharedMemory, warps: int = 0) -> None:
        self._memory, self._slots = memory, Slots(function)
        self._graphs = [
            graph
            for region in _concurrent_regions(function.operation)
            if (graph := _graph(region, memory, warps))
        ]

    def model(self) -> None:
        """Insert the barriers that the compiler will insert."""
        for graph in self._graphs:
            _insert_barriers(graph)

    def placed(self) -> Iterator[Placed]:
        """Yield each barrier, in the order of the text."""
        for graph in self._graphs:
            yield from _explained(graph, RaceFinder(graph, self._memory, self._slots))


def _concurrent_regions(function: Operation) -> Iterator[Region]:
    """Yield the regions whose threads share barriers: the function's region and each partition's."""
    for operation in function.walk():
        if operation is function or operation.name.startswith("ttg.warp_specialize"):
            yield from operation.regions


def _graph(region: Region, memory: SharedMemory, warps: int) -> list[Node]:
    # The text of a partition's title does not have its warps.
    is_wide = warps > _WARP_GROUP and not region.title

    def is_waiting(operation: Operation) -> bool:
        return is_barrier(operation) or (
            is_wide and operation.name == PRODUCT_WAIT and "warpGroupLocal" not in operation.text
        )

    nodes = {
        block.label: Node(block, [Step(memory.uses(each), is_waiting(each)) for each in _flat(block)])
        for block in region.blocks
    }
    for block in region.blocks:
        if block.operations:
            for label, _ in block.operations[-1].successors:
                if label in nodes:
                    nodes[block.label].following.append(nodes[label])
                    nodes[label].preceding.append(nodes[block.label])
    return list(nodes.values())


def _flat(block: Block) -> Iterator[Operation]:
    """Return the operations of a block and of the structured control flow in it, in text order."""
    for operation in block.operations:
        if operation.name.startswith("scf."):
            for region in operation.regions:
                for inner in region.blocks:
                    yield from _flat(inner)
        yield operation


# --- the model ---------------------------------------------------------------------------------


def _insert_barriers(graph: list[Node]) -> None:
    """Walk the blocks as the compiler does, until nothing new is pending anywhere."""
    incoming = {id(node): _Pending() for node in graph}
    outgoing: dict[int, _Pending] = {}
    queue = deque(graph[:1])
    while queue:
        node = queue.popleft()
        pending = incoming[id(node)].copy()
        position = 0
        while position < len(node.steps):
            position += _pass_step(node.steps, position, pending)
        if id(node) in outgoing and not outgoing[id(node)].add(pending):
            continue
        outgoing.setdefault(id(node), pending)
        for following in node.following:
            incoming[id(following)].add(outgoing[id(node)])
            queue.append(following)


def _pass_step(steps: list[Step], position: int, pending: _Pending) -> int:
    """Update `pending` by a step, inserting a barrier before or behind it; return how many were passed."""
    step = steps[position]
    if step.barrier:
        pending.clear()
        return 1
    if step.operation.name in WAITS:
        following = steps[position + 1] if position + 1 < len(steps) else None
        if following is not None and not following.barrier:
            steps.insert(position + 1, Step(Uses(following.operation), barrier=True, is_modelled=True))
        return 1
    now = _done_by(step.uses, first_only=True)
    inserted = 0
    if any(not _may_skip(hazard) for hazard in _hazards(pending, now, lambda _before, _after: False)):
        steps.insert(position, Step(Uses(step.operation), barrier=True, is_modelled=True))
        pending.clear()
        inserted = 1
    if step.uses.scratch is not None:
        # The operation itself has a barrier between writing and reading its scratch.
        pending.clear()
        pending.reads.add((step.uses.scratch, step.operation))
    else:
        pending.add(now)
    return 1 + inserted


def _may_skip(hazard: Hazard) -> bool:
    names = {hazard.before.name, hazard.after.name}
    return any(names <= group for group in _SAME_MBARRIER)


def _done_by(uses: Uses, *, first_only: bool) -> _Pending:
    """Return the accesses of a step: with `first_only` before its own barrier, else after it."""
    done = _Pending(
        {(buffer, uses.operation) for buffer in uses.reads},
        {(buffer, uses.operation) for buffer in uses.writes},
    )
    if uses.scratch is not None:
        (done.writes if first_only else done.reads).add((uses.scratch, uses.operation))
    return done


# --- what barriers protect ---------------------------------------------------------------------


def _explained(graph: list[Node], finder: RaceFinder) -> Iterator[Placed]:
    before = _reaching(graph, forward=True)
    after = _reaching(graph, forward=False)
    remaining = finder.find().hazards
    for node in graph:
        pending = before[id(node)].copy()
        for position, step in enumerate(node.steps):
            if step.barrier:
                upcoming = _upcoming(node, position, after)
                order = {id(each.operation): index for index, each in enumerate(node.steps)}
                following = next((each.operation for each in node.steps[position + 1 :]), None)
                ordered = _hazards(pending, upcoming, _around(order, position))
                races = finder.find(step)
                # The compiler knows no slots: it can order accesses that have no bytes in common.
                ordered = [replace(each, races=False) for each in ordered]
                common = [each for each in ordered if (each.kind, each.before, each.after) not in races.apart]
                apart = [replace(each, overlaps=False) for each in ordered]
                hazards = list(races.hazards - remaining) or common or apart
                yield Placed(None if step.is_modelled else step.operation, following, _nearest(hazards))
            _go_on(step, pending, forward=True)


def _around(order: dict[int, int], position: int) -> Callable[[Operation, Operation], bool]:
    """Return a test whether the first of two operations comes later in the text than the second."""

    def around(before: Operation, after: Operation) -> bool:
        if id(before) in order and order[id(before)] > position:
            return True
        return before.line > after.line

    return around


def _reaching(graph: list[Node], *, forward: bool) -> dict[int, _Pending]:
    """Return the accesses pending at the start of each block; backward, the later ones at its end."""
    known = {id(node): _Pending() for node in graph}
    queue = deque(graph)
    while queue:
        node = queue.popleft()
        pending = known[id(node)].copy()
        for step in node.steps if forward else reversed(node.steps):
            _go_on(step, pending, forward=forward)
        for neighbor in node.following if forward else node.preceding:
            if known[id(neighbor)].add(pending):
                queue.append(neighbor)
    return known


def _upcoming(node: Node, position: int, after: dict[int, _Pending]) -> _Pending:
    pending = after[id(node)].copy()
    for step in reversed(node.steps[position + 1 :]):
        _go_on(step, pending, forward=False)
    return pending


def _go_on(step: Step, pending: _Pending, *, forward: bool) -> None:
    if step.barrier:
        pending.clear()
        return
    if step.uses.scratch is not None:
        pending.clear()
    pending.add(_done_by(step.uses, first_only=not forward))


def _hazards(
    pending: _Pending, upcoming: _Pending, around: Callable[[Operation, Operation], bool]
) -> list[Hazard]:
    found: list[Hazard] = []
    pairs: tuple[tuple[HazardKind, set[tuple[Bytes, Operation]], set[tuple[Bytes, Operation]]], ...] = (
        ("read after write", pending.writes, upcoming.reads),
        ("write after read", pending.reads, upcoming.writes),
        ("write after write", pending.writes, upcoming.writes),
    )
    for kind, earlier, later in pairs:
        for one, before in earlier:
            for other, after in later:
                if one.overlaps(other):
                    found.append(
                        Hazard(
                            kind,
                            before,
                            after,
                            one.index,
                            other.index,
                            max(one.first, other.first),
                            min(one.end, other.end),
                            int(around(before, after)),
                        )
                    )
    return found


def _nearest(hazards: list[Hazard]) -> list[Hazard]:
    """Return the hazard with the nearest operations for each kind and pair of buffers."""
    chosen: dict[tuple[HazardKind, int, int], Hazard] = {}
    for hazard in sorted(hazards, key=lambda each: (each.iterations, -each.before.line, each.after.line)):
        chosen.setdefault((hazard.kind, hazard.before_buffer, hazard.after_buffer), hazard)
    order: tuple[HazardKind, ...] = ("read after write", "write after read", "write after write")
    return sorted(chosen.values(), key=lambda each: order.index(each.kind))
