"""What profilers find out: what the hardware counts, where the warps are and when."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.measurements.limits import (
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
from explorer.measurements.terms import Cache, Level, Source


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
