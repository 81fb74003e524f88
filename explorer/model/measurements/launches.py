"""The launch of a run, its environment, and the check of its results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from explorer.model.basics import LineNumber, Scalar
from explorer.model.measurements.kind import MeasurementDocument
from explorer.model.measurements.limits import (
    MOST_ARGUMENTS,
    MOST_CONDITIONS,
    MOST_DIMENSIONS,
    MOST_GRID_DIMENSIONS,
    MOST_KINDS,
    check_count,
    check_name,
)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The state of the GPU at a moment. None: not reported.

    `throttled_by` are the reasons for reduced clocks.
    """

    moment: Literal["before", "after"]
    sm_clock_mhz: float | None
    memory_clock_mhz: float | None
    power_watts: float | None
    power_limit_watts: float | None
    temperature_celsius: float | None
    throttled_by: tuple[str, ...]

    def __post_init__(self) -> None:
        check_count(self.throttled_by, MOST_KINDS, "reasons to slow down")


@dataclass(frozen=True, slots=True)
class Environment(MeasurementDocument):
    """The device that the kernel ran on: a GPU, or the interpreter on a CPU (`gpu` is then "").

    `binary_sha256` is the hash of the cubin that ran, for a comparison with the compiled cubin.
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
        check_count(self.conditions, MOST_CONDITIONS, "states of a GPU")
        check_name(self.gpu, "a GPU's name")
        check_name(self.capability, "a compute capability")
        check_name(self.binary_sha256, "a hash")
        for version in (self.driver, self.triton, self.torch, self.python):
            check_name(version, "a version")


@dataclass(frozen=True, slots=True)
class RunArgument:
    """An argument of the launch. `shape` and `strides` (in elements) are None for scalars."""

    name: str
    type: str
    value: Scalar
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_count(self.shape or (), MOST_DIMENSIONS, "dimensions")
        check_count(self.strides or (), MOST_DIMENSIONS, "strides")


@dataclass(frozen=True, slots=True)
class LaunchFacts(MeasurementDocument):
    """The launch that was run: kernel, grid, arguments.

    `stated` is the result of the kernel's own `launch_metadata` ("flops16", "bytes", …).
    """

    kernel: str
    line: LineNumber
    grid: tuple[int, ...]
    arguments: tuple[RunArgument, ...]
    config: int | None = None
    options: dict[str, Scalar] = field(default_factory=dict)
    stated: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_count(self.grid, MOST_GRID_DIMENSIONS, "dimensions of a grid")
        check_count(self.arguments, MOST_ARGUMENTS, "arguments")
        check_count(self.options, MOST_ARGUMENTS, "options")
        check_count(self.stated, MOST_KINDS, "kinds of work that are stated")


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """The comparison of one output tensor with the reference.

    `relative_error` is the norm of the difference over the norm of the reference. The worst element has the
    largest difference over max(|reference|, root mean square of the reference). `not_finite` counts elements
    that are NaN or infinite where the reference is finite, or vice versa; the first of them is then the worst
    element, without an error, and its values that are not finite are None. `compared` is the number of
    compared elements: all, unless some programs were not run.
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
        check_count(self.shape, MOST_DIMENSIONS, "dimensions")
        check_count(self.worst_index, MOST_DIMENSIONS, "dimensions of an index")


@dataclass(frozen=True, slots=True)
class Check(MeasurementDocument):
    """The comparison with the reference. `reason` says why nothing was compared, or is ""."""

    reason: str
    reference: str
    outputs: tuple[OutputCheck, ...] = ()

    def __post_init__(self) -> None:
        check_count(self.outputs, MOST_ARGUMENTS, "outputs")
