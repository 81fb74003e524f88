"""Trials: the changes that the findings of a compilation propose, each compiled, as a matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import msgspec
from flask import Blueprint, Response

from explorer.documents import API
from explorer.matrix import Configuration, Matrix, MatrixDocument, configured
from explorer.model import Request
from explorer.model.limits import MOST_CELLS
from explorer.queries import findings
from explorer.queries.findings import FindingsDocument
from explorer.queries.findings.finding import Finding
from explorer.services import services
from explorer.store import Record, compilation_of
from explorer.views.caller import FOLLOWER
from explorer.views.compilations import Ticket, compilation_ticket
from explorer.views.http import client_is_waiting, json_response, read_body
from explorer.views.matrices import MatrixTicket, document_of, start_matrix
from explorer.views.operation import documented
from explorer.views.records import find_compilation, store_collection
from explorer.views.requests import check_size

blueprint = Blueprint("trials", __name__, url_prefix=f"{API}/compilations/<compilation_id>")


@blueprint.post("/trials")
@documented({202: MatrixTicket}, None, FOLLOWER)
def submit(compilation_id: str) -> Response:
    """Compile each change that the findings of a compilation propose, as a matrix.

    Its configurations are the unchanged kernel, and then the different changes, in the order of the findings,
    as many as a matrix can have.
    """
    matrix = _trials(compilation_id)
    stored = store_collection("matrix", matrix.content(), matrix.request.private)
    return start_matrix(services(), stored.id, matrix)


@blueprint.get("/trials")
@documented({200: MatrixDocument, 204: None})
def show(compilation_id: str) -> Response:
    """Return the matrix of the trials. The status is 204 if nobody has tried the changes."""
    matrix = _trials(compilation_id)
    stored = services().store.collections.known("matrix", matrix.content(), matrix.request.private)
    return json_response(document_of(stored)) if stored else Response(status=204)


@blueprint.post("/changed")
@documented({200: Ticket, 202: Ticket}, Configuration, FOLLOWER)
def submit_changed(compilation_id: str) -> Response:
    """Compile the kernel of a compilation with a change, such as a finding proposes.

    The status is 200 if the result is stored, and 202 if the compilation waits or runs.
    """
    limit = services().settings.source_limit_bytes
    change = read_body(Configuration, limit)
    made = configured(_request(find_compilation(compilation_id)), change)
    check_size(made, limit)
    return compilation_ticket(services().queue.submit(made))


def _trials(compilation_id: str) -> Matrix:
    """Return the matrix of a compilation and of the changes that its findings propose.

    Raises:
        NotAnswerable: the compilation is not complete.
    """
    record = find_compilation(compilation_id)
    answer = services().query_service.answer(findings.QUERY, (record,), {}, client_is_waiting())
    found = msgspec.json.decode(answer, type=FindingsDocument).findings
    request = _request(record)
    return Matrix(request, trial_configurations(found), (request.target,), (request.triton,))


def trial_configurations(found: Iterable[Finding]) -> tuple[Configuration, ...]:
    """Return no change, then the different changes of findings, up to the limits of a matrix."""
    different = {msgspec.json.encode(unchanged := Configuration()): unchanged}
    for change in (change for finding in found for change in finding.changes):
        try:
            each = msgspec.convert(change, Configuration, from_attributes=True)
        except msgspec.ValidationError:
            break  # A page counts the configurations: none is left out between others.
        different.setdefault(msgspec.json.encode(each), each)
    return tuple(different.values())[:MOST_CELLS]


def _request(record: Record) -> Request:
    """Return the request of a compilation, whose constants can be changed."""
    request, specialized = compilation_of(record.request), record.result.specialized
    if isinstance(request.arguments, str) and specialized is not None:
        return replace(request, arguments=specialized.arguments)
    return request
