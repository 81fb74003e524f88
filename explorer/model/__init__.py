"""The types that cross every border: frozen dataclasses over the standard library, nothing else.

In: what a user asks for (`Request`). Out of the sandbox: one `Event` after another, each one JSON
object on a line of its own. Both sides of the wall import this package, so it must stay free of any
dependency; the web side checks every field on arrival (`explorer.sandbox.protocol`).

Conventions: lines and columns are counted from 1; durations are milliseconds; sizes are bytes.
"""

from __future__ import annotations

from explorer.model.encoding import decode_request, encode_event, to_plain
from explorer.model.events import (
    EVENT_TYPES,
    Allocation,
    Answer,
    Binary,
    Buffer,
    Diagnostic,
    Done,
    Event,
    Frame,
    Inspection,
    Location,
    Log,
    Measurement,
    Pass,
    Progress,
    Resources,
    Severity,
    Specialized,
    Stage,
)
from explorer.model.kernels import Config, Kernel, Launch, Parameter
from explorer.model.requests import (
    SCRIPT_TASKS,
    Argument,
    Distribution,
    LineNumber,
    Measure,
    Request,
    Run,
    RunInput,
    Scalar,
    Specialization,
)

__all__ = [
    "EVENT_TYPES",
    "SCRIPT_TASKS",
    "Allocation",
    "Answer",
    "Argument",
    "Binary",
    "Buffer",
    "Config",
    "Diagnostic",
    "Distribution",
    "Done",
    "Event",
    "Frame",
    "Inspection",
    "Kernel",
    "Launch",
    "LineNumber",
    "Location",
    "Log",
    "Measure",
    "Measurement",
    "Parameter",
    "Pass",
    "Progress",
    "Request",
    "Resources",
    "Run",
    "RunInput",
    "Scalar",
    "Severity",
    "Specialization",
    "Specialized",
    "Stage",
    "decode_request",
    "encode_event",
    "to_plain",
]
