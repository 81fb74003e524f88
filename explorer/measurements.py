"""What a run finds out about a kernel: the documents of its measurements, one type each.

They cross the wall as JSON inside `explorer.model.Measurement` and are kept with the result. Frozen
dataclasses over the standard library, like the model. Times are nanoseconds, sizes bytes, rates a second,
shares and errors fractions of 1, lines counted from 1 (0: none); units are part of the names.

Every number has a source: "measured" on the hardware, "counted" by running the kernel in the interpreter,
"static" from the compiled program, "stated" by the user, or from a "datasheet".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from explorer.measurement_limits import (
    MOST_ARGUMENTS,
    MOST_CONDITIONS,
    MOST_CONFIGS,
    MOST_DIMENSIONS,
    MOST_FILES,
    MOST_GRID_DIMENSIONS,
    MOST_INSTRUCTION_CHARACTERS,
    MOST_INSTRUCTIONS,
    MOST_KINDS,
    MOST_LINES,
    MOST_METRICS,
    MOST_OPERATIONS,
    MOST_PLACE,
    MOST_PROBLEMS,
    MOST_SCOPE_NAMES,
    MOST_SCOPE_NS,
    MOST_SCOPES,
    MOST_TIMED,
    MOST_TIMINGS,
    check_cells,
    check_count,
    check_name,
    check_range,
)
from explorer.model import LineNumber, Scalar

Source = Literal["measured", "counted", "static", "stated", "datasheet"]
Cache = Literal["cold", "warm"]
Level = Literal["dram", "l2", "l1", "shared"]


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


@dataclass(frozen=True)
class Timing:
    """How long one launch takes, again and again. `method` is "proton" or "do_bench"."""

    method: Literal["proton", "do_bench"]
    cache: Cache
    median_ns: float
    low_ns: float
    high_ns: float
    samples_ns: tuple[float, ...]

    def __post_init__(self) -> None:
        """Raise ValueError for more than a page can draw."""
        check_count(self.samples_ns, MOST_TIMED, "samples of a time")


@dataclass(frozen=True)
class Timings:
    """All timings of one launch. `low_ns` and `high_ns` of each are its 20 % and 80 % quantiles."""

    timings: tuple[Timing, ...]

    def __post_init__(self) -> None:
        """Raise ValueError for more than there are ways to time a launch."""
        check_count(self.timings, MOST_TIMINGS, "timings")


@dataclass(frozen=True)
class SweepPoint:
    """One size. `values[i]`, `low[i]`, `high[i]` belong to line i of the sweep; None: it failed."""

    sizes: dict[str, float]
    values: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True)
class Sweep:
    """A benchmark over sizes, as the script's `perf_report` or the form asks for it."""

    name: str
    size_names: tuple[str, ...]
    lines: tuple[str, ...]
    unit: str
    is_logarithmic: bool
    points: tuple[SweepPoint, ...]
    problems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for what is no table, nor a plot."""
        check_count(self.lines, MOST_LINES, "lines")
        check_cells(len(self.points), len(self.size_names) + 3 * len(self.lines))
        check_count(self.size_names, MOST_LINES, "names of sizes")
        check_count(self.problems, MOST_PROBLEMS, "problems")


@dataclass(frozen=True)
class ConfigTiming:
    """One autotune configuration. `problem` says why it has no time; "" when it has."""

    config: int
    arguments: dict[str, Scalar]
    options: dict[str, Scalar]
    median_ns: float | None
    low_ns: float | None
    high_ns: float | None
    problem: str = ""


@dataclass(frozen=True)
class Autotuning:
    """All configurations timed on one launch. `best` is the index of the fastest; None: all failed."""

    configs: tuple[ConfigTiming, ...]
    best: int | None

    def __post_init__(self) -> None:
        """Raise ValueError for what is no table."""
        check_count(self.configs, MOST_CONFIGS, "configurations")
        names = {name for config in self.configs for name in (*config.arguments, *config.options)}
        check_cells(len(self.configs), len(names))


@dataclass(frozen=True)
class Counters:
    """What the hardware has counted over one launch.

    `tool` is the profiler with its version, `metrics` its own names and values, as they are.
    `bytes` is by memory level, `operations` by kind ("tensor fp16", "fp32", "int32", …), `pipes` the share
    of the time in which each pipe was busy, `stalls` the samples by reason.
    `reason` says why there are none, and what to change.
    """

    reason: str
    tool: str = ""
    source: Source = "measured"
    cache: Cache = "cold"
    bytes: dict[Level, float] = field(default_factory=dict)
    operations: dict[str, float] = field(default_factory=dict)
    pipes: dict[str, float] = field(default_factory=dict)
    stalls: dict[str, float] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise ValueError for more than any hardware counts."""
        check_count(self.operations, MOST_KINDS, "kinds of operations")
        check_count(self.pipes, MOST_KINDS, "pipes")
        check_count(self.stalls, MOST_KINDS, "reasons to wait")
        check_count(self.metrics, MOST_METRICS, "metrics")


@dataclass(frozen=True)
class InstructionSamples:
    """Samples of the program counter at one instruction, `offset_bytes` from the kernel's start.

    `stalls` counts by reason. Sectors are those of global memory that it has asked the L2 for, and those
    that the same bytes would need at least (None: not a global access).
    """

    offset_bytes: int
    instruction: str
    samples: int
    stalls: dict[str, int]
    executed: int = 0
    sectors: int | None = None
    sectors_ideal: int | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for what is no instruction."""
        check_count(self.instruction, MOST_INSTRUCTION_CHARACTERS, "characters of an instruction")


@dataclass(frozen=True)
class Samples:
    """Where the warps were found. `reason` says why nothing was sampled."""

    reason: str
    tool: str = ""
    instructions: tuple[InstructionSamples, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for more than a page can draw."""
        check_count(self.instructions, MOST_INSTRUCTIONS, "instructions")
        reasons = {reason for each in self.instructions for reason in each.stalls}
        check_count(reasons, MOST_KINDS, "reasons to wait")


@dataclass(frozen=True)
class OperationCount:
    """What the interpreter has counted of one operation of the source, over all counted programs.

    `requested_bytes` are those of the lanes that the mask lets through; `sectors` the different 32-byte
    pieces that each execution in a program touches, added up; `flops` those of the operation's definition,
    also of lanes that a mask keeps out later: what blocks are padded with counts.
    """

    line: LineNumber
    operation: str
    executions: int
    requested_bytes: int = 0
    sectors: int = 0
    flops: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for what is no operation."""
        check_name(self.operation, "an operation's name")


@dataclass(frozen=True)
class Counts:
    """What the interpreter has counted.

    `programs` were run of the `grid_programs` of the launch. `loaded_sectors` and `stored_sectors` are the
    different 32-byte pieces that each program touches, added up, `sectors_in_grid` the different ones over
    the whole grid. Atomic operations count as stores. `flops` are by type: "fp32", "tensor fp16" for
    tl.dot, "special fp32" for exp, log, sqrt and the like.
    """

    programs: int
    grid_programs: int
    operations: tuple[OperationCount, ...]
    loaded_bytes: int
    stored_bytes: int
    loaded_sectors: int
    stored_sectors: int
    sectors_in_grid: int
    flops: dict[str, int]

    def __post_init__(self) -> None:
        """Raise ValueError for more than a page can show."""
        check_count(self.operations, MOST_OPERATIONS, "operations of a source")
        check_count(self.flops, MOST_KINDS, "kinds of operations")


@dataclass(frozen=True)
class Scope:
    """A named piece of a program's time in one warp, from the start of the trace."""

    name: str
    block: int
    multiprocessor: int
    warp: int
    start_ns: float
    duration_ns: float

    def __post_init__(self) -> None:
        """Raise ValueError for a place, a time or a name that nothing has."""
        check_name(self.name, "a scope's name")
        check_range((self.block, self.multiprocessor, self.warp), MOST_PLACE, "place of a scope")
        check_range((self.start_ns, self.duration_ns), MOST_SCOPE_NS, "time of a scope")


@dataclass(frozen=True)
class Timeline:
    """Scopes that the kernel marks. `reason` says why there are none; `cut` how many are left out."""

    reason: str
    scopes: tuple[Scope, ...] = ()
    cut: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for more than a page can draw."""
        check_count(self.scopes, MOST_SCOPES, "scopes")
        check_count({scope.name for scope in self.scopes}, MOST_SCOPE_NAMES, "names of scopes")


@dataclass(frozen=True)
class Roof:
    """A limit of the hardware: `name` is a memory level, or an operation such as "tensor fp16"."""

    name: str
    kind: Literal["memory", "compute"]
    rate: float
    source: Source
    method: str


@dataclass(frozen=True)
class Roofs:
    """Limits that were reached on the host itself: bytes or operations a second."""

    roofs: tuple[Roof, ...]

    def __post_init__(self) -> None:
        """Raise ValueError for more than any hardware has."""
        check_count(self.roofs, MOST_KINDS, "roofs")


@dataclass(frozen=True)
class ProfileFile:
    """A file of a profiler to take home, in base 64: `name` is its file name."""

    name: str
    media_type: str
    data: str

    def __post_init__(self) -> None:
        """Raise ValueError for a name that no file has."""
        check_name(self.name, "a file's name")
        check_name(self.media_type, "a media type")


@dataclass(frozen=True)
class ProfileFiles:
    """All files of a run."""

    files: tuple[ProfileFile, ...]

    def __post_init__(self) -> None:
        """Raise ValueError for more than a page can list."""
        check_count(self.files, MOST_FILES, "files")


MeasurementDocument = (
    Environment
    | LaunchFacts
    | Check
    | Timings
    | Sweep
    | Autotuning
    | Counters
    | Samples
    | Counts
    | Timeline
    | Roofs
    | ProfileFiles
)

#: The type of the document of each measurement, by the name under which it crosses the wall.
MEASUREMENTS: dict[str, type[MeasurementDocument]] = {
    "environment": Environment,
    "launch": LaunchFacts,
    "check": Check,
    "timings": Timings,
    "sweep": Sweep,
    "autotuning": Autotuning,
    "counters": Counters,
    "samples": Samples,
    "counts": Counts,
    "timeline": Timeline,
    "roofs": Roofs,
    "files": ProfileFiles,
}
