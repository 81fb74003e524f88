"""What a run finds out about a kernel: the documents of its measurements, one type each.

They cross the wall as JSON inside `explorer.model.Measurement` and are kept with the result. Frozen
dataclasses over the standard library, like the model. Times are nanoseconds, sizes bytes, rates a second,
shares and errors fractions of 1, lines counted from 1 (0: none); units are part of the names.
"""

from __future__ import annotations

from explorer.measurements.counts import Counts, OperationCount
from explorer.measurements.launches import (
    Check,
    Conditions,
    Environment,
    LaunchFacts,
    OutputCheck,
    RunArgument,
)
from explorer.measurements.profiles import (
    Counters,
    InstructionSamples,
    ProfileFile,
    ProfileFiles,
    Samples,
    Scope,
    Timeline,
)
from explorer.measurements.terms import Cache, Level, Source
from explorer.measurements.times import (
    Autotuning,
    ConfigTiming,
    Roof,
    Roofs,
    Sweep,
    SweepPoint,
    Timing,
    Timings,
)

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

__all__ = [
    "MEASUREMENTS",
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
]
