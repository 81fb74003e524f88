"""Runs: submit, read and cancel them, read their measurements and files, and list the runs of a compilation.

Profiles have the same addresses, with different IDs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from flask import Blueprint, Response, request

from explorer.documents import API, RunFileLinks, RunLinks
from explorer.jobs.caller import current_caller
from explorer.model.measurements import KINDS
from explorer.profiles.read import ID_PREFIX, Profile
from explorer.queries import Parameter
from explorer.runs.documents import Links, RunDocument, RunsDocument, devices_for, run_document, run_row
from explorer.runs.files import FilesDocument, autotuning_table, files_document, profile_file, sweep_table
from explorer.runs.imported import ImportedRunBody, imported_run
from explorer.runs.requests import RunBody, requested_run
from explorer.runs.roofs import measure_roofs
from explorer.services import services
from explorer.store import Record, Status, compilation_of
from explorer.store.entry_writer import EntryWriter
from explorer.views.caller import FOLLOWER, FollowersDocument, cancel_job, follow_job
from explorer.views.current_account import client
from explorer.views.events import LAST, event_stream
from explorer.views.http import attachment, binary_part, encoded_json_part, json_response, read_body
from explorer.views.operation import documented
from explorer.views.privacy import check_can_open
from explorer.views.records import find_compilation, stored_compilation, stored_run

blueprint = Blueprint("runs", __name__, url_prefix=API)

MOST_RUNS = 50
LINKS = RunLinks()


class RunTicket(msgspec.Struct, frozen=True):
    """The addresses of a run: `api` is its document, `events` its event stream."""

    id: str
    api: str
    events: str
    status: Status


@dataclass(frozen=True)
class FoundRun:
    """A run or a profile, and the compilation that it is compared with.

    `stranger` is the compilation in the request, if its kernel differs from that of the run.
    """

    record: Record
    compilation: Record | None = None
    profile: Profile | None = None
    stranger: Record | None = None

    @classmethod
    def of(cls, run_id: str) -> FoundRun:
        """Return the run of the current request. `compilation` names the compilation to compare with.

        A run has a compilation of its own, unless its kernel was captured, or the compilation was removed.

        Raises:
            NotFound: there is no such run, or no such compilation.
        """
        here = services()
        profile = here.profiles.find(run_id) if run_id.startswith(ID_PREFIX) else None
        record = profile.record if profile else here.queue.find(stored_run(run_id).id)
        own = compilation_of(record.request)
        if profile is None and (compilation := here.store.known(own)) is not None:
            return cls(record, compilation)
        if not (asked := request.args.get("compilation")):
            return cls(record, None, profile)
        named = stored_compilation(asked)
        is_same = profile.match(named) is not None if profile else compilation_of(named.request) == own
        return cls(record, named, profile) if is_same else cls(record, None, profile, named)

    def document(self, links: Links = LINKS) -> RunDocument:
        """Return the document of the run."""
        position = None if self.profile else services().queue.position(self.record)
        return run_document(self.record, links, self.compilation, position, self.profile)


COMPILATION = Parameter(
    "compilation", str, "The ID of the compilation to compare with, for a run whose own is not stored."
)


@blueprint.post("/runs")
@documented({200: RunTicket, 202: RunTicket}, RunBody, FOLLOWER)
def submit() -> Response:
    """Run the kernel of a compilation.

    The status is 200 if the result is stored, and 202 if the run waits or is at work.
    """
    here = services()
    body = read_body(RunBody, here.settings.source_limit_bytes)
    for compilation in filter(None, (body.compilation, body.original)):
        check_can_open(compilation)
    record = here.queue.submit(requested_run(here.store, here.queue, body))
    if body.run.device == "gpu" and not here.is_for_one_job:
        measure_roofs(here.queue, here.roofs_request)
    return json_response(_ticket(record), 200 if record.is_finished else 202)


@blueprint.post("/runs/imported")
@documented({200: RunTicket}, ImportedRunBody)
def submit_imported() -> Response:
    """Store the measurements of a compilation's kernel on another machine. Equal runs are stored once."""
    here = services()
    body = read_body(ImportedRunBody, here.settings.source_limit_bytes)
    check_can_open(body.compilation)
    request, events = imported_run(here.store, body)
    here.store.admit(client())
    record = here.store.submit(request, client(), right=current_caller().deletion_right)
    if not record.is_final:
        batch = here.store.batch(record.id)
        writer = EntryWriter(batch)
        here.store.finish(record.id, [writer.write(event) for event in events], batch)
    return json_response(_ticket(here.store.find(record.id)))


@blueprint.get("/runs/<run_id>")
@documented(
    {200: RunDocument},
    None,
    COMPILATION,
    Parameter("links", str, '"files": addresses are the names of the files that `profile --output` writes.'),
    FOLLOWER,
)
def show(run_id: str) -> Response:
    """Return a run: its status, and the addresses of its measurements."""
    links = RunFileLinks() if request.args.get("links") == "files" else LINKS
    found = FoundRun.of(run_id)
    follow_job(found.record)
    return json_response(found.document(links))


@blueprint.delete("/runs/<run_id>")
@documented({202: FollowersDocument, 204: None}, None, FOLLOWER)
def cancel(run_id: str) -> Response:
    """Cancel a run that waits or is at work.

    The status is 202 if the run continues, because others follow it. A finished run stays as it is.
    """
    if run_id.startswith(ID_PREFIX):
        services().profiles.find(run_id)
        return Response(status=204)
    return cancel_job(stored_run(run_id))


@blueprint.get("/runs/<run_id>/events")
@documented({200: "text/event-stream", 204: None}, None, FOLLOWER, LAST)
def events(run_id: str) -> Response:
    """Follow the events of a run from the first event, or from the event after `Last-Event-ID`.

    Beside the events of a compilation there are `progress` and `measurement`, whose data has the address of
    the document. The status is 204 if no event is left.
    """
    return event_stream(FoundRun.of(run_id).record)


@blueprint.get("/runs/<run_id>/measurements/<name>")
@documented({200: tuple(kind.document for kind in KINDS)})
def measurement(run_id: str, name: str) -> Response:
    """Return a measurement of a run. Its name decides the type of the document."""
    record = FoundRun.of(run_id).record
    return encoded_json_part(record, record.measurement(name))


@blueprint.get("/compilations/<compilation_id>/runs")
@documented({200: RunsDocument})
def of_compilation(compilation_id: str) -> Response:
    """List the runs and profiles of the kernel of a compilation, and the devices that can run it."""
    here = services()
    compilation = find_compilation(compilation_id)
    runs = [here.queue.latest(record) for record in here.store.runs(compilation.request, MOST_RUNS + 1)]
    imported = here.store.runs(compilation.request, MOST_RUNS, imported=True)
    document = RunsDocument(
        [run_row(run, LINKS, compilation, here.queue.position(run)) for run in runs[:MOST_RUNS]],
        [run_row(run, LINKS, compilation) for run in imported if run.is_finished],
        [
            run_row(each.record, LINKS, compilation, profile=each)
            for each, _ in here.profiles.matching(compilation)
        ],
        devices_for(compilation, here.devices_of_caller),
        f"Only the newest {MOST_RUNS} runs are listed." if len(runs) > MOST_RUNS else "",
    )
    return json_response(document)


@blueprint.get("/runs/<run_id>/sweep.csv")
@documented({200: "text/csv"})
def sweep(run_id: str) -> Response:
    """Return the sweep of a run as a table."""
    return _table(FoundRun.of(run_id).record, "sweep", sweep_table)


@blueprint.get("/runs/<run_id>/autotuning.csv")
@documented({200: "text/csv"})
def autotuning(run_id: str) -> Response:
    """Return the autotune configurations of a run and their times as a table."""
    return _table(FoundRun.of(run_id).record, "autotuning", autotuning_table)


@blueprint.get("/runs/<run_id>/files")
@documented({200: FilesDocument})
def files(run_id: str) -> Response:
    """List the files of profilers of a run."""
    return json_response(files_document(FoundRun.of(run_id).record))


@blueprint.get("/runs/<run_id>/files/<name>")
@documented({200: "application/octet-stream"})
def file(run_id: str, name: str) -> Response:
    """Return a file of a profiler, such as a Hatchet tree of Proton, or a trace for Chrome and Perfetto."""
    record = FoundRun.of(run_id).record
    data = profile_file(record, name)  # browsers must save the file and not show it
    return attachment(binary_part(record, data, "application/octet-stream"), name)


def _ticket(record: Record) -> RunTicket:
    api = LINKS.run(record.id)
    return RunTicket(record.id, api, f"{api}/events", record.status)


def _table(record: Record, name: str, write: Callable[[Record], str]) -> Response:
    response = binary_part(record, write(record).encode(), "text/csv")
    return attachment(response, f"{record.kernel or 'kernel'}-{name}.csv")
