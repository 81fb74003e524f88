"""Compilations: submit, read, download and cancel them."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from flask import Blueprint, Response, current_app, request

from explorer.documents import (
    API,
    ApiLinks,
    CompilationDocument,
    FileLinks,
    LinesDocument,
    file_stem,
    split_lines,
)
from explorer.errors import NotFound
from explorer.jobs.caller import Urgency, current_caller
from explorer.model.source_language import source_language
from explorer.queries import Parameter, archive
from explorer.queries.changes import counted_changes, known_changes
from explorer.services import services
from explorer.store import Record, Status
from explorer.views.caller import FOLLOWER, LIVE, FollowersDocument, cancel_job, follow_job
from explorer.views.current_account import client
from explorer.views.http import (
    attachment,
    binary_part,
    client_is_waiting,
    json_part,
    json_response,
    let_server_keep,
    revalidated,
    text_part,
)
from explorer.views.lines import RANGE, lines_document
from explorer.views.operation import documented
from explorer.views.records import find_compilation, stored_compilation
from explorer.views.requests import CompilationBody, read_compilation
from explorer.views.saved_page import saved_page

blueprint = Blueprint("compilations", __name__, url_prefix=f"{API}/compilations")


class Ticket(msgspec.Struct, frozen=True):
    """The addresses of a compilation: `url` is its page, `api` its document, `events` its event stream."""

    id: str
    url: str
    api: str
    events: str
    status: Status


@blueprint.post("")
@documented({200: Ticket, 202: Ticket}, CompilationBody, FOLLOWER, LIVE)
def submit() -> Response:
    """Compile a kernel.

    The status is 200 if the result is stored, and 202 if the compilation waits or runs.
    """
    return compilation_ticket(services().queue.submit(read_compilation(services())))


@blueprint.post("/<compilation_id>/llvm-passes")
@documented({200: Ticket, 202: Ticket}, None, FOLLOWER)
def submit_llvm_passes(compilation_id: str) -> Response:
    """Compile a kernel once more and record the passes of LLVM.

    The result is a separate compilation with the passes of LLVM. Compiling takes some seconds.
    """
    wanted = replace(find_compilation(compilation_id).request, task="llvm-passes")
    return compilation_ticket(services().queue.submit(wanted))


@blueprint.get("/<compilation_id>")
@documented(
    {200: CompilationDocument},
    None,
    Parameter("links", str, '"files": addresses are the names of the files in the archive.'),
    FOLLOWER,
    LIVE,
)
def show(compilation_id: str) -> Response:
    """Return the index of a compilation: all data except the texts.

    While the compilation runs, the index has the results so far.
    """
    record = find_compilation(compilation_id)
    if current_caller().urgency is not Urgency.LIVE:
        services().store.keep(record.id)
    follow_job(record)
    if request.args.get("links") == "files":
        changes = counted_changes(services().query_service, record, client_is_waiting())
        return json_response(CompilationDocument.of(record, FileLinks(), changes))
    changes = known_changes(services().query_service, record)
    links, versions = ApiLinks(record.id), services().versions
    position, waits_for = services().queue.position(record), services().queue.waits_for(record)
    response = json_response(CompilationDocument.of(record, links, changes, versions, position, waits_for))
    return let_server_keep(response) if record.is_final else response


@blueprint.delete("/<compilation_id>")
@documented({202: FollowersDocument, 204: None}, None, FOLLOWER)
def cancel(compilation_id: str) -> Response:
    """Cancel a compilation that waits or runs.

    The status is 202 if the compilation continues, because others follow it. A finished compilation stays as
    it is.
    """
    return cancel_job(stored_compilation(compilation_id))


@blueprint.put("/<compilation_id>/retention")
@blueprint.put("/<compilation_id>/pin", endpoint="pin")  # its earlier address
@documented({204: None})
def retain(compilation_id: str) -> Response:
    """Retain a compilation: the server does not remove it and its runs to free space.

    The link also works without this: a removed result is computed again.
    """
    services().store.retain(stored_compilation(compilation_id).id, client())
    return Response(status=204)


@blueprint.get("/<compilation_id>/source")
@documented({200: "text/plain"})
def source(compilation_id: str) -> Response:
    """Return the source of a compilation."""
    record = find_compilation(compilation_id)
    return text_part(record, record.request.source)


@blueprint.get("/<compilation_id>/source/lines")
@documented({200: LinesDocument}, None, *RANGE)
def source_lines(compilation_id: str) -> Response:
    """Return highlighted lines of the source."""
    record = find_compilation(compilation_id)
    source = record.request.source
    return json_part(record, lines_document(split_lines(source), source_language(source)))


@blueprint.get("/<compilation_id>/binary")
@documented({200: "application/octet-stream"})
def binary(compilation_id: str) -> Response:
    """Return the binary that a launch loads: a cubin or an hsaco."""
    record = find_compilation(compilation_id)
    found = record.result.binary
    if found is None:
        raise NotFound("This compilation has no binary, or not yet.")
    response = binary_part(record, record.read(found.data), "application/octet-stream")
    return attachment(response, f"{file_stem(record)}.{found.name}")


@blueprint.get("/<compilation_id>/export.html")
@documented({200: "text/html"})
def html(compilation_id: str) -> Response:
    """Return a finished result as one HTML page that works without a server.

    The page includes the finished runs of the compilation.
    """
    record = find_compilation(compilation_id)
    services().rates.count("exports")
    response = revalidated(Response(saved_page(current_app, record), mimetype="text/html"))
    return attachment(response, f"{file_stem(record)}.html")


@blueprint.get("/<compilation_id>/archive.zip")
@documented({200: "application/zip"})
def zip_archive(compilation_id: str) -> Response:
    """Return a ZIP archive of `result.json`, the source, and the text of every stage and pass."""
    record = find_compilation(compilation_id)
    services().rates.count("exports")
    data = services().query_service.answer(archive.QUERY, (record,), {}, client_is_waiting())
    return attachment(binary_part(record, data, "application/zip"), f"{file_stem(record)}.zip")


def compilation_ticket(record: Record) -> Response:
    """Return the addresses of a submitted compilation."""
    links = ApiLinks(record.id)
    ticket = Ticket(record.id, links.page, links.api, links.events, record.status)
    return json_response(ticket, 200 if record.is_finished else 202)
