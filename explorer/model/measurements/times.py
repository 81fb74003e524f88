"""The durations of launches, and the highest rates of the machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.model.basics import Scalar
from explorer.model.measurements.kind import MeasurementDocument
from explorer.model.measurements.limits import (
    MOST_CONFIGS,
    MOST_KINDS,
    MOST_LINES,
    MOST_PROBLEMS,
    MOST_TIMED,
    MOST_TIMINGS,
    check_cells,
    check_count,
)
from explorer.model.measurements.vocabulary import Cache, Source


@dataclass(frozen=True, slots=True)
class Timing:
    """The duration of one launch, measured repeatedly. `method` is "proton" or "do_bench"."""

    method: Literal["proton", "do_bench"]
    cache: Cache
    median_ns: float
    low_ns: float
    high_ns: float
    samples_ns: tuple[float, ...]

    def __post_init__(self) -> None:
        check_count(self.samples_ns, MOST_TIMED, "samples of a time")

    def is_faster_than(self, other: Timing) -> bool:
        """Return whether this time is at least 2 % shorter, and the spreads do not overlap."""
        return self.median_ns <= 0.98 * other.median_ns and self.high_ns < other.low_ns


@dataclass(frozen=True, slots=True)
class Timings(MeasurementDocument):
    """All timings of one launch. `low_ns` and `high_ns` of each are its 20 % and 80 % quantiles."""

    timings: tuple[Timing, ...]

    def __post_init__(self) -> None:
        check_count(self.timings, MOST_TIMINGS, "timings")


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One size. `values[i]`, `low[i]`, `high[i]` belong to line i of the sweep. None: an error occurred."""

    sizes: dict[str, float]
    values: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Sweep(MeasurementDocument):
    """A benchmark over sizes, as the script's `perf_report` or the form specifies it."""

    name: str
    size_names: tuple[str, ...]
    lines: tuple[str, ...]
    unit: str
    is_logarithmic: bool
    points: tuple[SweepPoint, ...]
    problems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_count(self.lines, MOST_LINES, "lines")
        check_cells(len(self.points), len(self.size_names) + 3 * len(self.lines))
        check_count(self.size_names, MOST_LINES, "names of sizes")
        check_count(self.problems, MOST_PROBLEMS, "problems")


@dataclass(frozen=True, slots=True)
class ConfigTiming:
    """One autotune configuration. `problem` says why it has no time; "": it has a time."""

    config: int
    arguments: dict[str, Scalar]
    options: dict[str, Scalar]
    median_ns: float | None
    low_ns: float | None
    high_ns: float | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Autotuning(MeasurementDocument):
    """The times of all configurations for one launch.

    `best` is the index of the fastest; None: all failed.
    """

    configs: tuple[ConfigTiming, ...]
    best: int | None

    def __post_init__(self) -> None:
        check_count(self.configs, MOST_CONFIGS, "configurations")
        names = {name for config in self.configs for name in (*config.arguments, *config.options)}
        check_cells(len(self.configs), len(names))


@dataclass(frozen=True, slots=True)
class Roof:
    """A limit of the hardware. `name` is a memory level, or an operation such as "tensor fp16"."""

    name: str
    kind: Literal["memory", "compute"]
    rate: float
    source: Source
    method: str


@dataclass(frozen=True, slots=True)
class Roofs(MeasurementDocument):
    """Limits that were measured on this host: bytes or operations per second."""

    roofs: tuple[Roof, ...]

    def __post_init__(self) -> None:
        check_count(self.roofs, MOST_KINDS, "roofs")
