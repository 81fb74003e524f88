"""The document of a roofline: the limits of a kernel, its distance from them, and hints.

Times are nanoseconds, rates bytes or operations per second, shares fractions of 1. Every number that is not
computed from others of the document names its source.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from explorer.model.measurements import Cache, Level, Source

Kind = Literal["memory", "compute"]
#: From this share on, a kernel is near to a ceiling.
NEAR_SHARE = 0.8


class Quantity(msgspec.Struct, frozen=True):
    """A number and its source; `note` is needed to interpret it.

    `is_most`: the number is an upper bound, and makes no floor.
    """

    value: float
    source: Source
    note: str = ""
    is_most: bool = False


class Ceiling(msgspec.Struct, frozen=True):
    """A limit of the hardware: `name` is a memory level, or an operation such as "tensor fp16".

    `method` describes the origin of `rate`; `clock_mhz` is the clock that it assumes.
    """

    name: str
    title: str
    kind: Kind
    rate: float
    source: Source
    method: str
    clock_mhz: float | None = None


class Traffic(msgspec.Struct, frozen=True):
    """The traffic of a memory level. `rate` is the achieved rate; `reason` says why it is unknown."""

    level: Level
    title: str
    bytes: Quantity | None
    rate: float | None
    reason: str = ""


class Operations(msgspec.Struct, frozen=True):
    """The number of operations of a kind. `rate` is the achieved rate."""

    name: str
    title: str
    count: Quantity
    rate: float | None


class Bound(msgspec.Struct, frozen=True):
    """The most operations a second at the intensity of a dot, by ceilings of one source.

    `by` is the ceiling that limits it; `share` is the achieved share of the bound.
    """

    source: Source
    rate: float
    by: str
    share: float | None


class Dot(msgspec.Struct, frozen=True):
    """The kernel in the plot, seen from one memory level.

    `intensity` is operations of the kind that takes longest (the document's `operation`) by bytes of this
    level, `rate` the achieved rate of these operations; None if the run has no time.
    """

    level: Level
    title: str
    intensity: float
    rate: float | None
    operations: Quantity
    bytes: Quantity
    bounds: list[Bound]


class Ridge(msgspec.Struct, frozen=True):
    """The point where a memory roof meets a compute ceiling: with less intensity, memory is the limit."""

    level: Level
    operation: str
    intensity: float
    rate: float
    source: Source


class Need(msgspec.Struct, frozen=True):
    """The least time that a resource needs for its work, by one ceiling. `share`: of the time taken."""

    source: Source
    rate: float
    time_ns: float
    share: float | None


class Resource(msgspec.Struct, frozen=True):
    """A resource of the GPU and its use by the kernel; `needs` is empty if no rate is known.

    Where `unit` is "%", `work` is the share of the time in which it was busy.
    """

    name: str
    title: str
    kind: Kind
    work: Quantity
    unit: str
    needs: list[Need]


class Floor(msgspec.Struct, frozen=True):
    """The least time of the whole kernel: the time of the resource that needs longest, by ceilings of one
    source.

    `share` is the achieved share of the speed of light: `time_ns` by the measured time.
    """

    source: Source
    time_ns: float
    binding: str
    share: float | None


class Loss(msgspec.Struct, frozen=True):
    """A reason for lost time that no resource explains. `lost_ns`: None if the loss is not a time."""

    name: Literal["tail", "idle multiprocessors", "unequal programs", "clock", "launch"]
    title: str
    text: str
    source: Source
    share: float | None
    lost_ns: float | None


class Evidence(msgspec.Struct, frozen=True):
    """A number that supports a hint. `unit` is "" for counts, "%" for shares of 1."""

    name: str
    value: float
    unit: str
    source: Source


class Hint(msgspec.Struct, frozen=True):
    """Advice that would make the kernel faster. `gain_ns` is the largest possible gain (None: not computed).

    `cost` is the disadvantage of the advice. `source_line` is the line of the user's source; 0: none in
    particular.
    """

    name: str
    title: str
    text: str
    cost: str
    evidence: list[Evidence]
    source_line: int
    gain_ns: float | None
    gain_share: float | None


class Missing(msgspec.Struct, frozen=True):
    """An unknown value, and the reason or a way to measure it."""

    what: str
    reason: str


class TakenTime(msgspec.Struct, frozen=True):
    """The time that everything is compared with."""

    median_ns: float
    low_ns: float
    high_ns: float
    method: Literal["proton", "do_bench"]
    cache: Cache


class RooflineDocument(msgspec.Struct, frozen=True):
    """How far a kernel is from the speed of light. `reason` is "" where at least one resource is known.

    `operation` is the kind of operation that would take longest ("" for a kernel that only moves data);
    the dots count it. `ceilings` are the ceilings that matter to this kernel. `is_modelled`: the kernel was
    not run on a GPU. It is compared with the best-known GPU of its target, and has no time.
    """

    reason: str
    gpu: str
    is_modelled: bool
    time: TakenTime | None
    operation: str
    unit: str
    near_share: float
    ceilings: list[Ceiling]
    dots: list[Dot]
    ridges: list[Ridge]
    operations: list[Operations]
    traffic: list[Traffic]
    resources: list[Resource]
    floors: list[Floor]
    losses: list[Loss]
    verdict: str
    hints: list[Hint]
    missing: list[Missing]
