"""Compilations: submit one, look at its index, take it home, cancel it."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from flask import Blueprint, Response

from explorer.analyses.changes import counted_changes, known_changes
from explorer.documents import CompilationDocument
from explorer.errors import NotFound
from explorer.export import file_stem, zip_archive
from explorer.services import services
from explorer.store import Record, Status
from explorer.views.html_file import html_file
from explorer.views.http import attachment, binary_part, json_part, json_response, revalidated, text_part
from explorer.views.lines import RANGE, LinesDocument, lines_document
from explorer.views.links import API, ApiLinks
from explorer.views.operation import documented
from explorer.views.records import find_compilation, stored_compilation
from explorer.views.requests import CompilationBody, read_compilation

blueprint = Blueprint("compilations", __name__, url_prefix=f"{API}/compilations")


class Ticket(msgspec.Struct, frozen=True):
    """Where a compilation is found: `url` for people, `api` for programs, `events` as it happens."""

    id: str
    url: str
    api: str
    events: str
    status: Status


@blueprint.post("")
@documented({200: Ticket, 202: Ticket}, CompilationBody)
def submit() -> Response:
    """Compile a kernel. 200 when the result is stored already, 202 when it is being made."""
    return _ticket(services().queue.submit(read_compilation(services())))


@blueprint.post("/<compilation_id>/llvm-passes")
@documented({200: Ticket, 202: Ticket})
def submit_llvm_passes(compilation_id: str) -> Response:
    """Compile once more, for LLVM's own passes: a compilation whose passes these are.

    It takes some seconds; its events tell how far it is, and DELETE on it cancels.
    """
    request = replace(find_compilation(compilation_id).request, task="llvm-passes")
    return _ticket(services().queue.submit(request))


@blueprint.get("/<compilation_id>")
@documented({200: CompilationDocument})
def show(compilation_id: str) -> Response:
    """The index of a compilation: all but the texts. While it runs: what is known so far."""
    record = find_compilation(compilation_id)
    changes = known_changes(services().analyst, record)
    return json_response(CompilationDocument.of(record, ApiLinks(record.id), changes))


@blueprint.delete("/<compilation_id>")
@documented({204: None})
def cancel(compilation_id: str) -> Response:
    """Cancel a compilation that waits or runs. A finished one stays as it is."""
    services().queue.cancel(stored_compilation(compilation_id).id)
    return Response(status=204)


@blueprint.get("/<compilation_id>/source")
@documented({200: "text/plain"})
def source(compilation_id: str) -> Response:
    """The source that was compiled."""
    record = find_compilation(compilation_id)
    return text_part(record, record.request.source)


@blueprint.get("/<compilation_id>/source/lines")
@documented({200: LinesDocument}, None, *RANGE)
def source_lines(compilation_id: str) -> Response:
    """Highlighted lines of the source."""
    record = find_compilation(compilation_id)
    return json_part(record, lines_document(record.request.source, "python"))


@blueprint.get("/<compilation_id>/binary")
@documented({200: "application/octet-stream"})
def binary(compilation_id: str) -> Response:
    """The binary that a launch would load: a cubin or an hsaco."""
    record = find_compilation(compilation_id)
    found = record.result.binary
    if found is None:
        raise NotFound("This compilation has no binary (yet).")
    response = binary_part(record, record.read(found.data), "application/octet-stream")
    return attachment(response, f"{file_stem(record)}.{found.name}")


@blueprint.get("/<compilation_id>/export.html")
@documented({200: "text/html"})
def html(compilation_id: str) -> Response:
    """The page with everything about a finished result in one file, which works without a server.

    The runs that are done are in it, too: after another one it is another file.
    """
    record = find_compilation(compilation_id)
    response = revalidated(Response(html_file(record, services()), mimetype="text/html"))
    return attachment(response, f"{file_stem(record)}.html")


@blueprint.get("/<compilation_id>/archive.zip")
@documented({200: "application/zip"})
def archive(compilation_id: str) -> Response:
    """Everything in one file: `result.json`, the source, and the text of every stage and pass."""
    record = find_compilation(compilation_id)
    data = zip_archive(record, counted_changes(services().analyst, record))
    return attachment(binary_part(record, data, "application/zip"), f"{file_stem(record)}.zip")


def _ticket(record: Record) -> Response:
    links = ApiLinks(record.id)
    ticket = Ticket(record.id, links.page, links.api, links.events, record.status)
    return json_response(ticket, 200 if record.is_finished else 202)
