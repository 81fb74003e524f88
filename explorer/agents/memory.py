"""Shared memory, its bank conflicts, accesses to global memory, and layouts."""

from __future__ import annotations

from urllib.parse import urlencode

import msgspec

from explorer.agents.api import Api, document
from explorer.agents.tool import First, Id, PassIndex, page_from, page_of
from explorer.documents import shortened
from explorer.queries.allocation import AllocationDocument
from explorer.queries.layout_accesses import AccessRow
from explorer.queries.layout_conversions import ConversionRow, SharedAccessRow
from explorer.queries.layouts import LayoutsDocument


class Buffer(msgspec.Struct, frozen=True):
    """A buffer in shared memory, alive from `operation` to before the operation at position `end`.

    `shares_bytes_with` are the indices of buffers that use some of its bytes at another time.
    """

    function: str
    index: int
    name: str
    use: str
    operation: str
    type: str
    size_bytes: int
    offset_bytes: int
    start: int
    end: int
    source_line: int
    shares_bytes_with: tuple[int, ...]


class Barrier(msgspec.Struct, frozen=True):
    """A barrier of all threads before an operation. `hazards` are the accesses that it separates."""

    function: str
    operation: str
    source_line: int
    source: str
    hazards: list[str]
    reason: str


class SharedMemory(msgspec.Struct, frozen=True):
    """The shared memory of a block: its size, its limit, and its buffers, the largest first.

    `problems` are the missing parts with reasons. `next` says how to get the other buffers.
    """

    shared_bytes: int
    shared_limit_bytes: int
    sum_of_buffers_bytes: int
    buffers: list[Buffer]
    total_buffers: int
    barriers: list[Barrier]
    total_barriers: int
    problems: list[str]
    source: str
    next: str


class Conflicts(msgspec.Struct, frozen=True):
    """Accesses to shared memory, with the most bank conflicts first."""

    accesses: list[SharedAccessRow]
    total: int
    with_conflicts: int
    next: str


class Accesses(msgspec.Struct, frozen=True):
    """Accesses to global memory in the order of the text, with their width and its limiting factor."""

    accesses: list[AccessRow]
    total: int
    next: str


class Layout(msgspec.Struct, frozen=True):
    """A layout. `contiguity` is the number of consecutive elements of a thread along each dimension."""

    index: int
    label: str
    encoding: str
    memory: str
    shape: tuple[int, ...]
    element: str
    replication: int
    contiguity: tuple[int, ...]
    thread_tile: tuple[int, ...]
    warp_tile: tuple[int, ...]
    values: list[str]


class Layouts(msgspec.Struct, frozen=True):
    """The layouts of a module, and the conversions between them, which refer to layouts by index."""

    layouts: list[Layout]
    total: int
    conversions: list[ConversionRow]
    total_conversions: int
    next: str


async def explain_shared_memory(api: Api, compilation: Id, first: First = 0) -> SharedMemory:
    """Explain the shared memory of a block: its buffers, their addresses, and the barriers."""
    found = await document(api, f"/compilations/{compilation}/allocation", AllocationDocument)
    buffers = [
        Buffer(
            function.name,
            each.index,
            each.name,
            each.use,
            each.operation,
            shortened(each.type),
            each.size_bytes,
            each.offset_bytes,
            each.start,
            each.end,
            each.first.source_line,
            each.shares_bytes_with[:20],
        )
        for function in found.functions
        for each in function.buffers
    ]
    buffers.sort(key=lambda each: -each.size_bytes)
    barriers = [
        Barrier(
            function.name,
            each.following.operation,
            each.following.source_line,
            each.source,
            [
                f"{hazard.kind}: {hazard.before.operation}, {hazard.after.operation}"
                for hazard in each.hazards[:5]
            ],
            each.reason,
        )
        for function in found.functions
        for each in function.barriers
    ]
    rows, left = page_from(buffers, len(buffers), first, "explain_shared_memory")
    return SharedMemory(
        found.shared_bytes,
        found.shared_limit_bytes,
        sum(function.sum_bytes for function in found.functions),
        rows,
        len(buffers),
        page_of(barriers)[:20],
        len(barriers),
        [function.problem for function in found.functions if function.problem][:5],
        found.source,
        left,
    )


async def bank_conflicts(
    api: Api, compilation: Id, index: PassIndex | None = None, first: First = 0
) -> Conflicts:
    """List accesses to shared memory with their bank conflicts, in TTGIR or after the pass `index`."""
    found = (await _layouts(api, compilation, index)).shared_accesses
    found.sort(key=lambda each: -(each.conflicts or each.modelled_conflicts or 0))
    accesses = (
        msgspec.structs.replace(
            each, operation=shortened(each.operation), offsets_bytes=each.offsets_bytes[:32]
        )
        for each in found
    )
    rows, left = page_from(accesses, len(found), first, "bank_conflicts")
    conflicting = sum(bool(each.conflicts or each.modelled_conflicts) for each in found)
    return Conflicts(rows, len(found), conflicting, left or "Call layouts for the layouts by index.")


async def memory_accesses(
    api: Api, compilation: Id, index: PassIndex | None = None, first: First = 0
) -> Accesses:
    """List accesses to global memory: bytes of a lane, sectors of a warp, and why they are not wider."""
    found = (await _layouts(api, compilation, index)).accesses
    accesses = (msgspec.structs.replace(each, operation=shortened(each.operation)) for each in found)
    rows, left = page_from(accesses, len(found), first, "memory_accesses")
    return Accesses(rows, len(found), left)


async def layouts(api: Api, compilation: Id, index: PassIndex | None = None, first: First = 0) -> Layouts:
    """List the layouts of tensors and buffers and the conversions, in TTGIR or after the pass `index`."""
    found = await _layouts(api, compilation, index)
    rows, left = page_from(
        (
            Layout(
                each.index,
                each.label,
                each.encoding,
                each.memory,
                each.shape,
                each.element,
                each.replication,
                tuple(each.contiguity),
                tuple(each.thread_tile),
                tuple(each.warp_tile),
                [name for name, _ in each.values[:10]],
            )
            for each in found.layouts
        ),
        len(found.layouts),
        first,
        "layouts",
    )
    return Layouts(
        rows,
        len(found.layouts),
        page_of(
            msgspec.structs.replace(each, operation=shortened(each.operation)) for each in found.conversions
        ),
        len(found.conversions),
        left,
    )


async def _layouts(api: Api, compilation: str, index: int | None) -> LayoutsDocument:
    asked = "" if index is None else f"?{urlencode({'pass': index})}"
    return await document(api, f"/compilations/{compilation}/layouts{asked}", LayoutsDocument)
