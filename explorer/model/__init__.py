"""The types that cross the borders of the project: frozen dataclasses over the standard library.

In: what a user requests (`Request`). Out of the sandbox: a stream of `Event`s, one JSON object per line. Both
sides of the wall import this package, so it must not have any dependency. The web side checks every field on
arrival (`explorer.sandbox.protocol`).

Conventions: lines and columns are counted from 1; durations are milliseconds; sizes are bytes.
"""

from __future__ import annotations

from explorer.model.basics import DeviceKind, LineNumber, Scalar
from explorer.model.encoding import decode_request, encode_event, to_plain
from explorer.model.events import (
    CANCELED,
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
    Outcome,
    Pass,
    Progress,
    Resources,
    Severity,
    Specialized,
    Stage,
)
from explorer.model.kernels import AssumedNumber, Config, Kernel, Launch, OutputCode, Parameter, TorchNode
from explorer.model.requests import (
    BINARY_STAGES,
    SCRIPT_TASKS,
    UNKNOWN_VERSION,
    Argument,
    Captured,
    Distribution,
    Edits,
    LineEdit,
    Measure,
    Origin,
    Original,
    Request,
    Run,
    RunInput,
    Specialization,
)

__all__ = [
    "BINARY_STAGES",
    "CANCELED",
    "EVENT_TYPES",
    "SCRIPT_TASKS",
    "UNKNOWN_VERSION",
    "Allocation",
    "Answer",
    "Argument",
    "AssumedNumber",
    "Binary",
    "Buffer",
    "Captured",
    "Config",
    "DeviceKind",
    "Diagnostic",
    "Distribution",
    "Done",
    "Edits",
    "Event",
    "Frame",
    "Inspection",
    "Kernel",
    "Launch",
    "LineEdit",
    "LineNumber",
    "Location",
    "Log",
    "Measure",
    "Measurement",
    "Origin",
    "Original",
    "Outcome",
    "OutputCode",
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
    "TorchNode",
    "decode_request",
    "encode_event",
    "to_plain",
]
