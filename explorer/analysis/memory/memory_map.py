"""The map of a kernel's shared memory: the address and lifetime of each buffer, and the barriers.

In: the compiler's allocation (`model.Allocation`), the module whose positions it uses, and the module that is
lowered to LLVM, which has the barriers that passes inserted. Out: a `FunctionMap` for each function.

Positions are the compiler's: operations counted in the order in which they end. They are found in the text
again and checked against the operation that the compiler names for each buffer; where the check fails, the
function has a `problem`, and guessed values are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from explorer.analysis.memory.alignment import alignment_bytes
from explorer.analysis.memory.allocation_dump import missing_from_dump
from explorer.analysis.memory.barriers import Barriers, Placed
from explorer.analysis.memory.hazards import PRODUCT_WAIT, WAITS, is_barrier
from explorer.analysis.memory.memory_map_types import (
    BarrierMap,
    BarrierSource,
    BufferMap,
    FunctionMap,
    HazardMap,
    Mark,
    MarkKind,
    Place,
    View,
)
from explorer.analysis.memory.shared_memory import Bytes, SharedMemory
from explorer.analysis.mlir.operations import Function, Operation, read_functions, shown_name
from explorer.model import Allocation, Buffer, LineNumber

_MARKS: dict[str, MarkKind] = {
    "async_wait": "wait",
    "async_tdm_wait": "wait",
    "async_tma_store_wait": "wait",
    "warp_group_dot_wait": "wait",
    "wait_barrier": "wait",
    "init_barrier": "mbarrier",
    "inval_barrier": "mbarrier",
    "barrier_expect": "mbarrier",
    "arrive_barrier": "mbarrier",
    "tc_gen5_commit": "mbarrier",
    "fence_async_shared": "fence",
}
_TYPE = re.compile(r"(?:!ttg\.memdesc)?<([^<>]*(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>[^<>]*)*)>\s*$")
_SHAPE = re.compile(r"^((?:\d+x)+)\w")
_WARPS = re.compile(r'"ttg\.num-warps" = (\d{1,4}) :')
_ALIAS = re.compile(r"^(#\w+) = (.*)$", re.MULTILINE)
_NOT_FOUND = (
    "The operations of the buffers were not found at their positions, so that names and lines are missing. "
    "The Passes pane shows the module."
)
_NOT_LOWERED = (
    "The lowered module could not be read, so that barriers are missing. The Passes pane shows the module."
)


def map_functions(
    allocations: Sequence[Allocation], text: str, lowered: str, *, has_barriers: bool
) -> list[FunctionMap]:
    """Make the map of each function.

    `text` is the module after the pass that allocates, `lowered` the module that is lowered to LLVM.
    `has_barriers`: `lowered` contains all barriers, so that none need be modeled.
    """
    functions = read_functions(text)
    missing = missing_from_dump(allocations, text)
    later = {function.name: function for function in read_functions(lowered)}
    layouts = dict(_ALIAS.findall(text))
    warps = _WARPS.search(lowered)
    waiting_warps = int(warps[1]) if warps and has_barriers else 0
    if len(functions) != len(allocations):
        problem = (
            "The functions of the module have no distinct names, so that operations have no names. "
            "The Passes pane shows the module."
        )
        return [_without_operations(allocation, missing or problem) for allocation in allocations]
    # The compiler goes through callees first; a function without calls keeps its place in the text.
    ordered = _matched(functions, allocations)
    return [
        _Mapper(allocation, function, later.get(function.name), layouts, has_barriers, waiting_warps).map(
            missing
        )
        if function is not None
        else _without_operations(allocation, missing or _NOT_FOUND)
        for allocation, function in zip(allocations, ordered, strict=True)
    ]


def _matched(functions: list[Function], allocations: Sequence[Allocation]) -> list[Function | None]:
    """Find for each allocation the function in which the operations of all buffers are at their positions."""
    left = list(functions)
    found: list[Function | None] = []
    for allocation in allocations:
        function = next((each for each in left if _fits(each, allocation)), None)
        if function is not None:
            left.remove(function)
        found.append(function)
    return found


def _fits(function: Function, allocation: Allocation) -> bool:
    operations = function.operations
    return all(
        buffer.end is None
        or (
            buffer.start < len(operations)
            and buffer.end <= len(operations)
            and operations[buffer.start].name == _operation_name(buffer.owner)
            and f"allocation.offset = {buffer.offset_bytes} :" in operations[buffer.start].whole_text
        )
        for buffer in allocation.buffers
    )


def _operation_name(owner: str) -> str:
    """Return the name of the operation in the compiler's own text."""
    found = re.match(r'(?:%[\w$.:#]+(?:, %[\w$.:#]+)* = )?"?([\w$.]+)', owner)
    return found[1] if found else ""


def _without_operations(allocation: Allocation, problem: str) -> FunctionMap:
    """Return the buffers that the compiler's allocation reports, without the text of the module."""
    end = max((buffer.end or buffer.start + 1 for buffer in allocation.buffers), default=0)

    def place(buffer: Buffer) -> Place:
        return Place(buffer.start, _operation_name(buffer.owner), "", 0, 0)

    rows = tuple(
        BufferMap(
            buffer.index, _operation_name(buffer.owner), buffer.use, False, _operation_name(buffer.owner), "",
            buffer.size_bytes, buffer.offset_bytes, None, 1, buffer.start, buffer.end or end,
            place(buffer), place(buffer), (), (),
            *_neighbors(buffer, allocation.buffers, end),
        )
        for buffer in allocation.buffers
    )  # fmt: skip
    return FunctionMap(
        f"function {allocation.function}", allocation.pass_index, end, allocation.shared_bytes,
        sum(buffer.size_bytes for buffer in rows), *_peak(rows), rows, (), (), (), problem,
    )  # fmt: skip


def _neighbors(
    buffer: Buffer, buffers: Sequence[Buffer], operations: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the buffers that are alive at once, and the buffers that share addresses at other times."""
    alive, sharing = [], []
    for other in buffers:
        if other is buffer:
            continue
        ends = (buffer.end or operations, other.end or operations)
        if buffer.start < ends[1] and other.start < ends[0]:
            alive.append(other.index)
        elif _bytes(buffer).overlaps(_bytes(other)):
            sharing.append(other.index)
    return tuple(alive), tuple(sharing)


def _bytes(buffer: Buffer) -> Bytes:
    return Bytes(buffer.index, buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes)


def _peak(buffers: Sequence[BufferMap]) -> tuple[int, int, tuple[int, ...]]:
    """Return the largest number of live bytes, its first position, and the live buffers there."""
    changes: dict[int, int] = {}
    for buffer in buffers:
        changes[buffer.start] = changes.get(buffer.start, 0) + buffer.size_bytes
        changes[buffer.end] = changes.get(buffer.end, 0) - buffer.size_bytes
    alive = most = at = 0
    for position in sorted(changes):
        alive += changes[position]
        if alive > most:
            most, at = alive, position
    there = [buffer for buffer in buffers if buffer.start <= at < buffer.end]
    largest = sorted(there, key=lambda buffer: -buffer.size_bytes)
    return most, at, tuple(buffer.index for buffer in largest)


class _Mapper:
    """Makes the map of one function whose buffers are at the reported positions."""

    def __init__(
        self,
        allocation: Allocation,
        function: Function,
        lowered: Function | None,
        layouts: Mapping[str, str],
        has_barriers: bool,
        waiting_warps: int,
    ) -> None:
        self._allocation = allocation
        self._function = function
        self._layouts = layouts
        self._has_barriers = has_barriers
        self._waiting_warps = waiting_warps
        self._memory = _memory(
            function, {buffer: function.operations[buffer.start] for buffer in self._placed}
        )
        self._lowered = lowered
        self._positions = {} if lowered is None else _positions_of(function, lowered)

    @property
    def _placed(self) -> list[Buffer]:
        return [buffer for buffer in self._allocation.buffers if buffer.end is not None]

    def map(self, problem: str) -> FunctionMap:
        """Make the map; `problem` names the parts that are known to be missing."""
        allocation, operations = self._allocation, self._function.operations
        users = self._users()
        buffers = tuple(self._buffer(buffer, users.get(buffer.index, [])) for buffer in allocation.buffers)
        peak_bytes, peak_position, peak_buffers = _peak(buffers)
        barriers: tuple[BarrierMap, ...] = ()
        marks: tuple[Mark, ...] = ()
        if self._lowered is not None and self._positions:
            barriers, marks = tuple(self._barriers(self._lowered)), tuple(self._marks(self._lowered))
        else:
            problem = problem or _NOT_LOWERED
        return FunctionMap(
            name=self._function.name,
            pass_index=allocation.pass_index,
            operations=len(operations),
            shared_bytes=allocation.shared_bytes,
            sum_bytes=sum(buffer.size_bytes for buffer in buffers),
            peak_bytes=peak_bytes,
            peak_position=peak_position,
            peak_buffers=peak_buffers,
            buffers=buffers,
            barriers=barriers,
            marks=marks,
            source_lines=tuple(self._source_line(operation) for operation in operations),
            problem=problem,
        )

    def _users(self) -> dict[int, list[Operation]]:
        users: dict[int, list[Operation]] = {}
        for operation, buffer in self._memory.users():
            users.setdefault(buffer.index, []).append(operation)
        return users

    def _buffer(self, buffer: Buffer, users: list[Operation]) -> BufferMap:
        operations = self._function.operations
        end = len(operations) if buffer.end is None else buffer.end
        owner = operations[-1] if buffer.end is None else operations[buffer.start]
        bounds = _bytes(buffer)
        memdesc = _memdesc_type(owner) if buffer.use == "explicit" else ""
        return BufferMap(
            buffer.index,
            _name(owner) if buffer.use == "explicit" else f"scratch of {owner.name}",
            buffer.use,
            bounds in self._memory.mbarriers,
            owner.name,
            memdesc,
            buffer.size_bytes,
            buffer.offset_bytes,
            alignment_bytes(buffer.use, owner, memdesc, self._layouts),
            _slots(users, memdesc),
            buffer.start,
            end,
            self._place(owner) if buffer.end is not None else self._place(operations[0]),
            self._place(operations[end - 1]),
            tuple(self._place(each) for each in users if each is not owner),
            tuple(self._views(bounds, owner)),
            *_neighbors(buffer, self._allocation.buffers, len(operations)),
        )

    def _views(self, bounds: Bytes, owner: Operation) -> Iterator[View]:
        for operation in self._function.operations:
            for value in operation.results:
                if operation is not owner and bounds in self._memory.buffers.get(value, ()):
                    yield View(shown_name(value), self._place(operation))

    def _barriers(self, lowered: Function) -> Iterator[BarrierMap]:
        owners = {
            buffer: operation
            for buffer in self._placed
            for operation in lowered.operations
            if self._positions.get(id(operation)) == (buffer.start, True)
        }
        barriers = Barriers(lowered, _memory(lowered, owners), self._waiting_warps)
        if not self._has_barriers:
            barriers.model()
        for each in sorted(barriers.placed(), key=lambda each: each.following.line if each.following else 0):
            if each.following is not None:
                hazards = tuple(
                    HazardMap(
                        hazard.kind,
                        self._place_later(hazard.before),
                        self._place_later(hazard.after),
                        hazard.before_buffer,
                        hazard.after_buffer,
                        hazard.first,
                        hazard.end,
                        hazard.iterations > 0,
                        hazard.iterations,
                        hazard.overlaps,
                        hazard.races,
                    )
                    for hazard in each.hazards
                )
                reason = "" if hazards else self._reason(each.following)
                yield BarrierMap(
                    self._place_later(each.following), self._barrier_source(each), hazards, reason
                )

    def _reason(self, following: Operation) -> str:
        """Explain a barrier that protects no bytes."""
        position = self._positions[id(following)][0]
        preceding = self._function.operations[position - 1] if position else None
        if preceding is not None and preceding.name == PRODUCT_WAIT:
            return f"It follows {preceding.name}: no thread continues before the products are complete."
        if preceding is not None and preceding.name in WAITS:
            return f"It follows {preceding.name}: no thread continues before all copies are complete."
        return "It orders accesses to other memory: tensor memory, global memory, or signals."

    def _barrier_source(self, placed: Placed) -> BarrierSource:
        if placed.operation is None:
            return "modelled"
        if placed.operation.name == PRODUCT_WAIT:
            return "lowering"
        return "program" if self._positions[id(placed.operation)][1] else "compiler"

    def _marks(self, lowered: Function) -> Iterator[Mark]:
        for operation in lowered.operations:
            kind = _MARKS.get(operation.name.rpartition(".")[2])
            if kind is not None and not is_barrier(operation):
                yield Mark(kind, self._place_later(operation))

    def _place_later(self, operation: Operation) -> Place:
        """Return the place of an operation of the lowered module."""
        position, is_same = self._positions[id(operation)]
        there = self._function.operations[position]
        if is_same:
            return self._place(there)
        value = shown_name(operation.results[0]) if operation.results else ""
        return Place(position, operation.name, value, 0, self._source_line(there))

    def _place(self, operation: Operation) -> Place:
        value = shown_name(operation.results[0]) if operation.results else ""
        return Place(operation.position, operation.name, value, operation.line, self._source_line(operation))

    def _source_line(self, operation: Operation) -> LineNumber:
        lines = self._allocation.source_lines
        return lines[operation.line - 1] if 0 < operation.line <= len(lines) else 0


def _memory(function: Function, owners: Mapping[Buffer, Operation]) -> SharedMemory:
    return SharedMemory(
        function,
        {
            operation.results[0]: _bytes(buffer)
            for buffer, operation in owners.items()
            if buffer.use == "explicit" and operation.results
        },
        {operation: _bytes(buffer) for buffer, operation in owners.items() if buffer.use != "explicit"},
    )


def _positions_of(function: Function, later: Function) -> dict[int, tuple[int, bool]]:
    """Return for each operation of a later module its position in `function`, and whether it exists there.

    Passes in between only insert operations: an inserted operation has the position of the next operation.
    The result is empty if another change is found.
    """
    before = _in_text_order(function.operation)
    after = _in_text_order(later.operation)
    found: dict[int, tuple[int, bool]] = {}
    inserted: list[Operation] = []
    index = 0
    for operation in after:
        if index < len(before) and _looks_like(before[index], operation):
            position = before[index].position
            found.update({id(each): (position, False) for each in inserted})
            found[id(operation)] = (position, True)
            inserted.clear()
            index += 1
        else:
            inserted.append(operation)
    return found if index == len(before) and not inserted else {}


def _looks_like(one: Operation, other: Operation) -> bool:
    return one.name == other.name and len(one.results) == len(other.results)


def _in_text_order(operation: Operation) -> list[Operation]:
    found = [operation]
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                found += _in_text_order(inner)
    return found


def _memdesc_type(operation: Operation) -> str:
    found = _TYPE.search(operation.whole_text)
    return found[1] if found else ""


def _slots(users: list[Operation], memdesc: str) -> int:
    """Return the number of tiles of a buffer: its outermost dimension, if the program indexes it."""
    shape = _SHAPE.match(memdesc)
    if not shape or not any(operation.name == "ttg.memdesc_index" for operation in users):
        return 1
    return int(shape[1].split("x")[0])


def _name(operation: Operation) -> str:
    """Return a buffer's name in the source, if it has one."""
    value = shown_name(operation.results[0]) if operation.results else operation.name
    return value if re.fullmatch(r"%\d+", value) else re.sub(r"_\d+$", "", value).removeprefix("%")
