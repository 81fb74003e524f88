"""The registry of measurements, and the types of their documents.

The API, the command line, the store, saved files and the page find a measurement by its entry in `KINDS`.
Documents cross the wall as JSON inside `explorer.model.Measurement` and are stored with the result. They are
frozen dataclasses over the standard library. Times are nanoseconds, sizes bytes, rates per second, shares and
errors fractions of 1, lines counted from 1 (0: none). Units are part of the names.
"""

from __future__ import annotations

from explorer.model.basics import DeviceKind
from explorer.model.measurements.counts import Counts, OperationCount
from explorer.model.measurements.kind import PHASES, MeasurementDocument, MeasurementKind
from explorer.model.measurements.launches import (
    Check,
    Conditions,
    Environment,
    LaunchFacts,
    OutputCheck,
    RunArgument,
)
from explorer.model.measurements.profiles import (
    Counters,
    InstructionSamples,
    ProfileFile,
    ProfileFiles,
    Samples,
    Scope,
    Timeline,
)
from explorer.model.measurements.times import (
    Autotuning,
    ConfigTiming,
    Roof,
    Roofs,
    Sweep,
    SweepPoint,
    Timing,
    Timings,
)
from explorer.model.measurements.vocabulary import Cache, Level, Source

#: In the order in which measures are listed and stored in requests. The order of existing entries must not
#: change, because it is part of the addresses of stored runs.
KINDS: tuple[MeasurementKind, ...] = (
    MeasurementKind("environment", Environment),
    MeasurementKind("launch", LaunchFacts),
    MeasurementKind(
        "check",
        Check,
        "check",
        "Compares what the kernel writes with the reference.",
        devices=("interpreter", "gpu"),
    ),
    MeasurementKind(
        "timings", Timings, "time", "Times repeated launches with a cold and with a warm L2 cache."
    ),
    MeasurementKind(
        "counts",
        Counts,
        "counts",
        "Counts the bytes, sectors and operations of every line, exactly.",
        devices=("interpreter",),
        most_characters=16_000_000,
    ),
    MeasurementKind(
        "counters",
        Counters,
        "counters",
        "Reads the hardware's counters: bytes by memory level, operations by kind.",
        phase="profiled",
    ),
    MeasurementKind(
        "samples",
        Samples,
        "samples",
        "Samples where the warps are and what they wait for.",
        phase="profiled",
        most_characters=16_000_000,
    ),
    MeasurementKind(
        "timeline",
        Timeline,
        "timeline",
        "Records the scopes that the kernel marks, warp by warp.",
        phase="profiled",
        most_characters=16_000_000,
    ),
    MeasurementKind(
        "sweep", Sweep, "sweep", "Times the kernel and its reference over sizes.", phase="repeated"
    ),
    MeasurementKind(
        "autotuning", Autotuning, "autotune", "Times every autotune configuration.", phase="repeated"
    ),
    MeasurementKind("roofs", Roofs, "roofs", "Measures what this GPU can reach at best, once.", phase="host"),
    MeasurementKind("files", ProfileFiles, most_characters=60_000_000),
)

#: Each measurement by the name of its document.
MEASUREMENTS: dict[str, MeasurementKind] = {kind.name: kind for kind in KINDS}
#: Each measurement that a run can request, by the name of its measure.
MEASURES: dict[str, MeasurementKind] = {kind.measure: kind for kind in KINDS if kind.measure}


def measures_of(device: DeviceKind) -> tuple[str, ...]:
    return tuple(name for name, kind in MEASURES.items() if device in kind.devices)


__all__ = [
    "KINDS",
    "MEASUREMENTS",
    "MEASURES",
    "PHASES",
    "Autotuning",
    "Cache",
    "Check",
    "Conditions",
    "ConfigTiming",
    "Counters",
    "Counts",
    "Environment",
    "InstructionSamples",
    "LaunchFacts",
    "Level",
    "MeasurementDocument",
    "OperationCount",
    "OutputCheck",
    "ProfileFile",
    "ProfileFiles",
    "Roof",
    "Roofs",
    "RunArgument",
    "Samples",
    "Scope",
    "Source",
    "Sweep",
    "SweepPoint",
    "Timeline",
    "Timing",
    "Timings",
    "measures_of",
]
