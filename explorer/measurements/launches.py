"""What was launched, on what, and whether its result is right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from explorer.measurements.limits import (
    MOST_ARGUMENTS,
    MOST_CONDITIONS,
    MOST_DIMENSIONS,
    MOST_GRID_DIMENSIONS,
    MOST_KINDS,
    check_count,
    check_name,
)
from explorer.model import LineNumber, Scalar


@dataclass(frozen=True)
class Conditions:
    """The state of the GPU at a moment. None: the driver does not say. `throttled_by`: why it slows down."""

    moment: Literal["before", "after"]
    sm_clock_mhz: float | None
    memory_clock_mhz: float | None
    power_watts: float | None
    power_limit_watts: float | None
    temperature_celsius: float | None
    throttled_by: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raise ValueError for more than any GPU says."""
        check_count(self.throttled_by, MOST_KINDS, "reasons to slow down")


@dataclass(frozen=True)
class Environment:
    """What the kernel ran on: a GPU, or the interpreter on a processor (`gpu` is then "").

    `binary_sha256` is that of the cubin that ran, so that it can be compared with the compiled one.
    """

    gpu: str
    capability: str
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    sm_clock_mhz: float
    memory_clock_mhz: float
    memory_bus_bits: int
    driver: str
    triton: str
    torch: str
    python: str
    conditions: tuple[Conditions, ...] = ()
    binary_sha256: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for what no machine is called, and for more than is looked at."""
        check_count(self.conditions, MOST_CONDITIONS, "states of a GPU")
        check_name(self.gpu, "a GPU's name")
        check_name(self.capability, "a compute capability")
        check_name(self.binary_sha256, "a hash")
        for version in (self.driver, self.triton, self.torch, self.python):
            check_name(version, "a version")


@dataclass(frozen=True)
class RunArgument:
    """An argument as the kernel was given it. `shape` and `strides` (in elements) are None for scalars."""

    name: str
    type: str
    value: Scalar
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for what is no tensor."""
        check_count(self.shape or (), MOST_DIMENSIONS, "dimensions")
        check_count(self.strides or (), MOST_DIMENSIONS, "strides")


@dataclass(frozen=True)
class LaunchFacts:
    """The launch that was run: what of, in how many programs, with what.

    `stated` is what the kernel's own `launch_metadata` says of it ("flops16", "bytes", …).
    """

    kernel: str
    line: LineNumber
    grid: tuple[int, ...]
    arguments: tuple[RunArgument, ...]
    config: int | None = None
    options: dict[str, Scalar] = field(default_factory=dict)
    stated: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise ValueError for what no kernel is launched with."""
        check_count(self.grid, MOST_GRID_DIMENSIONS, "dimensions of a grid")
        check_count(self.arguments, MOST_ARGUMENTS, "arguments")
        check_count(self.options, MOST_ARGUMENTS, "options")
        check_count(self.stated, MOST_KINDS, "kinds of work that are stated")


@dataclass(frozen=True)
class OutputCheck:
    """One tensor that the kernel has written, against the reference.

    `relative_error` is the norm of the difference over the norm of the reference; the worst element is that
    with the largest difference over max(|reference|, root mean square of the reference). `not_finite` counts
    NaN and infinity where the reference has a number, or the other way round; the first of them is then the
    worst element, without an error, and a value of it that is no number is None. `compared` elements were
    compared: all, unless some programs were not run.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    relative_error: float
    tolerance: float
    worst_error: float | None
    worst_index: tuple[int, ...]
    worst_value: float | None
    worst_reference: float | None
    not_finite: int
    matches: bool
    compared: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for what is no tensor."""
        check_count(self.shape, MOST_DIMENSIONS, "dimensions")
        check_count(self.worst_index, MOST_DIMENSIONS, "dimensions of an index")


@dataclass(frozen=True)
class Check:
    """The result against the reference. `reason` says why nothing was compared; "" when it was."""

    reason: str
    reference: str
    outputs: tuple[OutputCheck, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for more than a kernel writes."""
        check_count(self.outputs, MOST_ARGUMENTS, "outputs")
