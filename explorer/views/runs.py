"""Runs: start one, look at it, read what it has measured, cancel it; those of a compilation together.

Recorded runs are answered by the same addresses, under their own ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from flask import Blueprint, Response, request

from explorer.analyses import Parameter
from explorer.measurements import MEASUREMENTS
from explorer.recordings import ID_PREFIX, Recording
from explorer.roofs import measure_roofs
from explorer.run_documents import RunDocument, RunsDocument, devices_for, run_document, run_row
from explorer.run_files import FilesDocument, autotuning_table, files_document, profile_file, sweep_table
from explorer.run_requests import RunBody, requested_run
from explorer.services import services
from explorer.store import Record, Status, compilation_of
from explorer.views.events import event_stream
from explorer.views.http import attachment, binary_part, encoded_json_part, json_response, read_body
from explorer.views.links import API, RunLinks
from explorer.views.operation import documented
from explorer.views.records import find_compilation, stored_compilation, stored_run

blueprint = Blueprint("runs", __name__, url_prefix=API)

MOST_RUNS = 50
LINKS = RunLinks()


class RunTicket(msgspec.Struct, frozen=True):
    """Where a run is found: `api` has it, `events` tells of it as it happens."""

    id: str
    api: str
    events: str
    status: Status


@dataclass(frozen=True)
class FoundRun:
    """A run, recorded or made here, and the compilation that it is compared with.

    `stranger` is a compilation that a recording was to be compared with, but that is of another kernel.
    """

    record: Record
    compilation: Record | None = None
    recording: Recording | None = None
    stranger: Record | None = None

    @classmethod
    def of(cls, run_id: str) -> FoundRun:
        """The run that the current request is about; its `compilation` says what to compare with.

        Raises:
            NotFound: there is no such run, or no such compilation.
        """
        here = services()
        asked = request.args.get("compilation")
        if run_id.startswith(ID_PREFIX):
            recording = here.recordings.find(run_id)
            compilation = stored_compilation(asked) if asked else None
            if compilation is not None and recording.match(compilation) is None:
                return cls(recording.record, None, recording, compilation)
            return cls(recording.record, compilation, recording)
        record = here.queue.find(stored_run(run_id).id)
        return cls(record, here.store.submit(compilation_of(record.request)))

    def document(self) -> RunDocument:
        """All but what was measured."""
        position = None if self.recording else services().queue.position(self.record)
        return run_document(self.record, LINKS, self.compilation, position, self.recording)


COMPILATION = Parameter(
    "compilation", str, "Of a recorded run: the id of the compilation that it is looked at with."
)


@blueprint.post("/runs")
@documented({200: RunTicket, 202: RunTicket}, RunBody)
def submit() -> Response:
    """Run the kernel of a compilation. 200 when the same run is stored already, 202 when it is being made."""
    here = services()
    body = read_body(RunBody, here.settings.source_limit_bytes)
    record = here.queue.submit(requested_run(here, body))
    if body.run.device == "gpu":
        measure_roofs(here)
    api = LINKS.run(record.id)
    ticket = RunTicket(record.id, api, f"{api}/events", record.status)
    return json_response(ticket, 200 if record.is_finished else 202)


@blueprint.get("/runs/<run_id>")
@documented({200: RunDocument}, None, COMPILATION)
def show(run_id: str) -> Response:
    """A run: how it stands, and where what it has measured is found."""
    return json_response(FoundRun.of(run_id).document())


@blueprint.delete("/runs/<run_id>")
@documented({204: None})
def cancel(run_id: str) -> Response:
    """Cancel a run that waits or goes on. A finished one stays as it is."""
    here = services()
    if run_id.startswith(ID_PREFIX):
        here.recordings.find(run_id)
    else:
        here.queue.cancel(stored_run(run_id).id)
    return Response(status=204)


@blueprint.get("/runs/<run_id>/events")
@documented({200: "text/event-stream", 204: None})
def events(run_id: str) -> Response:
    """Follow a run from its first event on, or from the one after `Last-Event-ID`.

    Beside those of a compilation there are `progress` and `measurement`, whose data has the address of the
    document. 204 when nothing will follow any more.
    """
    return event_stream(FoundRun.of(run_id).record)


@blueprint.get("/runs/<run_id>/measurements/<name>")
@documented({200: tuple(MEASUREMENTS.values())})
def measurement(run_id: str, name: str) -> Response:
    """Something that a run has measured: the document that belongs to the name."""
    record = FoundRun.of(run_id).record
    return encoded_json_part(record, record.measurement(name))


@blueprint.get("/compilations/<compilation_id>/runs")
@documented({200: RunsDocument})
def of_compilation(compilation_id: str) -> Response:
    """The runs of a compilation's kernel, those recorded on other machines, and what can run it here."""
    here = services()
    compilation = find_compilation(compilation_id)
    runs = [here.queue.latest(record) for record in here.store.runs(compilation.request, MOST_RUNS + 1)]
    document = RunsDocument(
        [run_row(run, LINKS, compilation, here.queue.position(run)) for run in runs[:MOST_RUNS]],
        [
            run_row(each.record, LINKS, compilation, recording=each)
            for each, _ in here.recordings.matching(compilation)
        ],
        devices_for(compilation, here.devices),
        f"Only the newest {MOST_RUNS} runs are listed." if len(runs) > MOST_RUNS else "",
    )
    return json_response(document)


@blueprint.get("/runs/<run_id>/sweep.csv")
@documented({200: "text/csv"})
def sweep(run_id: str) -> Response:
    """The sweep of a run as a table."""
    return _table(FoundRun.of(run_id).record, "sweep", sweep_table)


@blueprint.get("/runs/<run_id>/autotuning.csv")
@documented({200: "text/csv"})
def autotuning(run_id: str) -> Response:
    """The autotune configurations of a run with their times, as a table."""
    return _table(FoundRun.of(run_id).record, "autotuning", autotuning_table)


@blueprint.get("/runs/<run_id>/files")
@documented({200: FilesDocument})
def files(run_id: str) -> Response:
    """The profilers' files of a run: what there is at `files/<name>`."""
    return json_response(files_document(FoundRun.of(run_id).record))


@blueprint.get("/runs/<run_id>/files/<name>")
@documented({200: "application/octet-stream"})
def file(run_id: str, name: str) -> Response:
    """A file of a profiler, such as Proton's tree for hatchet, or a trace for Chrome and Perfetto."""
    record = FoundRun.of(run_id).record
    data = profile_file(record, name)  # whatever it is: a browser is to save it, not to show it
    return attachment(binary_part(record, data, "application/octet-stream"), name)


def _table(record: Record, name: str, write: Callable[[Record], str]) -> Response:
    response = binary_part(record, write(record).encode(), "text/csv")
    return attachment(response, f"{record.kernel or 'kernel'}-{name}.csv")
