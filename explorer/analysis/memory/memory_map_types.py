"""The documents of the map of shared memory, one for each function; see `map_functions`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.analysis.memory.hazards import HazardKind
from explorer.model import LineNumber

BarrierSource = Literal["program", "compiler", "modelled", "lowering"]
MarkKind = Literal["wait", "mbarrier", "fence"]


@dataclass(frozen=True)
class Place:
    """An operation: its position, its name, and the value it defines ("": none).

    `line` is its line in the module after the pass that allocates (0: a later pass has made it),
    `source_line` the line of the source that it comes from (0: none).
    """

    position: int
    operation: str
    value: str
    line: LineNumber
    source_line: LineNumber


@dataclass(frozen=True)
class View:
    """A value that is another name of a buffer, or of a part of it."""

    value: str
    place: Place


@dataclass(frozen=True)
class BufferMap:
    """A buffer. It is alive from the operation at `start` to before the operation at `end`.

    `slots` is the number of tiles that a pipelined buffer has room for (1: it is not divided).
    `alignment_bytes` follows the rules of the compiler (None: the text does not determine it). `alive_with`
    are the indices of the buffers that are alive at the same time, and so have other addresses;
    `shares_bytes_with` are the indices of the buffers that use some of the same bytes at another time.
    """

    index: int
    name: str
    use: Literal["explicit", "scratch", "virtual"]
    holds_mbarriers: bool
    operation: str
    type: str
    size_bytes: int
    offset_bytes: int
    alignment_bytes: int | None
    slots: int
    start: int
    end: int
    first: Place
    last: Place
    uses: tuple[Place, ...]
    views: tuple[View, ...]
    alive_with: tuple[int, ...]
    shares_bytes_with: tuple[int, ...]


@dataclass(frozen=True)
class HazardMap:
    """Two operations that the barrier separates, the buffers that they access, and the common bytes.

    `around_loop`: the operation before the barrier belongs to an earlier iteration, `iterations` earlier.
    `overlaps` is False if the compiler's analysis takes a buffer as a whole, and the operations use different
    slots of it. `races` is False if the pair is the compiler's, and no race was found without the barrier.
    """

    kind: HazardKind
    before: Place
    after: Place
    before_buffer: int
    after_buffer: int
    first_byte: int
    end_byte: int
    around_loop: bool
    iterations: int
    overlaps: bool
    races: bool


@dataclass(frozen=True)
class BarrierMap:
    """A barrier of all threads, before the operation `following`.

    `source`: the module had the barrier before memory was allocated ("program"), a pass inserted it
    ("compiler"), the lowering to LLVM will make it of the wait before `following` ("lowering"), or, by our
    model, the lowering will insert it ("modelled"). A barrier without hazards does not order bytes of
    buffers; `reason` says what it orders.
    """

    following: Place
    source: BarrierSource
    hazards: tuple[HazardMap, ...]
    reason: str


@dataclass(frozen=True)
class Mark:
    """An operation that waits for copies or products, works on mbarriers, or is a fence."""

    kind: MarkKind
    place: Place


@dataclass(frozen=True)
class FunctionMap:
    """Shared memory of one function.

    `operations` is the number of operations, `source_lines[i]` the source line of the operation at position i
    (0: none). `sum_bytes` is the size of all buffers together, `peak_bytes` the most that is alive at any
    position, and `peak_position` the first such position; `peak_buffers` are the indices of the buffers that
    are alive there, the largest first. `problem` says why something is missing; "" if the map is complete.
    """

    name: str
    pass_index: int
    operations: int
    shared_bytes: int
    sum_bytes: int
    peak_bytes: int
    peak_position: int
    peak_buffers: tuple[int, ...]
    buffers: tuple[BufferMap, ...]
    barriers: tuple[BarrierMap, ...]
    marks: tuple[Mark, ...]
    source_lines: tuple[LineNumber, ...]
    problem: str
