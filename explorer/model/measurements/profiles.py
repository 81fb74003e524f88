"""The measurements of profilers: hardware counters, samples, scopes, files."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.model.measurements.kind import MeasurementDocument
from explorer.model.measurements.limits import (
    MOST_FILES,
    MOST_INSTRUCTION_CHARACTERS,
    MOST_INSTRUCTIONS,
    MOST_KINDS,
    MOST_METRICS,
    MOST_PLACE,
    MOST_SCOPE_NAMES,
    MOST_SCOPE_NS,
    MOST_SCOPES,
    check_count,
    check_name,
    check_range,
)
from explorer.model.measurements.vocabulary import Cache, Level, Source


@dataclass(frozen=True, slots=True)
class Counters(MeasurementDocument):
    """The hardware counters of one launch.

    `tool` is the profiler with its version; `metrics` are its names and values, unchanged. `bytes` is by
    memory level, `operations` by kind ("tensor fp16", "fp32", "int32", …), `pipes` the share of the time in
    which each pipe was busy, `stalls` the samples by stall reason. `reason` says why there are no counters,
    and what to change.
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
        check_count(self.operations, MOST_KINDS, "kinds of operations")
        check_count(self.pipes, MOST_KINDS, "pipes")
        check_count(self.stalls, MOST_KINDS, "reasons to wait")
        check_count(self.metrics, MOST_METRICS, "metrics")


@dataclass(frozen=True, slots=True)
class InstructionSamples:
    """Samples of the program counter at one instruction, `offset_bytes` from the kernel's start.

    `stalls` counts by stall reason. Sectors are the sectors of global memory that the instruction requested
    from the L2, and the least number for the same bytes (None: not a global access).
    """

    offset_bytes: int
    instruction: str
    samples: int
    stalls: dict[str, int]
    executed: int = 0
    sectors: int | None = None
    sectors_ideal: int | None = None

    def __post_init__(self) -> None:
        check_count(self.instruction, MOST_INSTRUCTION_CHARACTERS, "characters of an instruction")


@dataclass(frozen=True, slots=True)
class Samples(MeasurementDocument):
    """The samples of all instructions. `reason` says why nothing was sampled."""

    reason: str
    tool: str = ""
    instructions: tuple[InstructionSamples, ...] = ()

    def __post_init__(self) -> None:
        check_count(self.instructions, MOST_INSTRUCTIONS, "instructions")
        reasons = {reason for each in self.instructions for reason in each.stalls}
        check_count(reasons, MOST_KINDS, "reasons to wait")


@dataclass(frozen=True, slots=True)
class Scope:
    """A named interval of a program in one warp, relative to the start of the trace."""

    name: str
    block: int
    multiprocessor: int
    warp: int
    start_ns: float
    duration_ns: float

    def __post_init__(self) -> None:
        """Raise ValueError if a value is out of range."""
        check_name(self.name, "a scope's name")
        check_range((self.block, self.multiprocessor, self.warp), MOST_PLACE, "place of a scope")
        check_range((self.start_ns, self.duration_ns), MOST_SCOPE_NS, "time of a scope")


@dataclass(frozen=True, slots=True)
class Timeline(MeasurementDocument):
    """The scopes of the kernel. `reason` says why there are none; `cut` is the number of scopes left out."""

    reason: str
    scopes: tuple[Scope, ...] = ()
    cut: int = 0

    def __post_init__(self) -> None:
        check_count(self.scopes, MOST_SCOPES, "scopes")
        check_count({scope.name for scope in self.scopes}, MOST_SCOPE_NAMES, "names of scopes")


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """A file of a profiler to download, in base 64. `name` is its file name."""

    name: str
    media_type: str
    data: str

    def __post_init__(self) -> None:
        """Raise ValueError if the name is not a file name."""
        check_name(self.name, "a file's name")
        check_name(self.media_type, "a media type")


@dataclass(frozen=True, slots=True)
class ProfileFiles(MeasurementDocument):
    """All files of a run."""

    files: tuple[ProfileFile, ...]

    def __post_init__(self) -> None:
        check_count(self.files, MOST_FILES, "files")
