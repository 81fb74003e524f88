"""A run of another machine: its measurements come with the request instead of from a job.

In: a body of the API, with the compilation of the same kernel here. Out: the request under which the run is
stored, and its events, checked like the events of a job.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Annotated, Literal

import msgspec

from explorer.errors import InvalidRequest
from explorer.model import Diagnostic, Done, Event, Measurement, Request
from explorer.model.encoding import encode_event
from explorer.runs.requests import RunFields, make_run
from explorer.sandbox.errors import ProtocolError
from explorer.sandbox.protocol import decode_event
from explorer.store import Store, compilation_of

_Id = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]


class ImportedRunBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The measurements of a compilation's kernel by another machine: documents by the measurement's name."""

    compilation: _Id
    run: RunFields
    measurements: Annotated[dict[_Name, msgspec.Raw], msgspec.Meta(min_length=1, max_length=20)]
    diagnostics: Annotated[list[Diagnostic], msgspec.Meta(max_length=1000)] = []
    status: Literal["complete", "failed"] = "complete"
    milliseconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0


def imported_run(store: Store, body: ImportedRunBody) -> tuple[Request, list[Event]]:
    """Return the request and the events of a run, the last of which is `Done`.

    Raises:
        InvalidRequest: a field or a measurement is invalid; the message names it.
        NotFound: there is no such compilation.
    """
    compilation = store.find(body.compilation).request
    if compilation.task not in ("compile", "captured"):
        raise InvalidRequest(f"{body.compilation} is not a compilation. Give the ID of one.")
    try:
        events: list[Event] = [
            Measurement(name, bytes(document).decode()) for name, document in body.measurements.items()
        ]
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"The run is not valid: {error}. Send what profile --json printed.") from error
    events += [replace(diagnostic) for diagnostic in body.diagnostics]
    events.append(Done(body.status, body.milliseconds))
    try:
        checked = [decode_event(encode_event(event)) for event in events]
    except ProtocolError as error:
        raise InvalidRequest(f"The run is not valid: {error}. Send what profile --json printed.") from error
    digest = sha256(b"".join(encode_event(event) for event in checked)).hexdigest()
    run = make_run(body.run)
    return replace(compilation_of(compilation), task="run", run=run, imported=digest), checked
