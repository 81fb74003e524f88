"""Matrices: one kernel for several configurations, targets and Triton versions; their page at `/m/<id>`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from flask import Blueprint, Response, request, url_for

from explorer.documents import API
from explorer.errors import NotFound
from explorer.matrix import (
    Configuration,
    Matrix,
    MatrixDocument,
    configurations_of,
    matrix_api,
    matrix_document,
    matrix_url,
)
from explorer.matrix.tables import csv_table, markdown_table
from explorer.model import Inspection
from explorer.model.limits import MOST_CELLS
from explorer.queries import Parameter
from explorer.services import Services, services
from explorer.store import Collection
from explorer.views.caller import FOLLOWER, FollowersDocument
from explorer.views.http import json_response, read_body, revalidated
from explorer.views.operation import documented
from explorer.views.pages import table_page
from explorer.views.privacy import is_about_private
from explorer.views.records import store_collection, stored_matrix
from explorer.views.requests import CompilationBody, inspection_of, requested_compilation
from explorer.views.visible import visible

blueprint = Blueprint("matrices", __name__)

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Names = Annotated[list[_Name], msgspec.Meta(max_length=MOST_CELLS)]
_Configurations = Annotated[list[Configuration], msgspec.Meta(max_length=MOST_CELLS)]


class MatrixBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A compilation, and the lists whose combinations are compiled: configurations, targets, Triton versions.

    An empty list stands for the value of the compilation. "all" are the autotune configurations of its
    kernel.
    """

    compilation: CompilationBody
    configurations: _Configurations | Literal["all"] = []
    targets: _Names = []
    tritons: _Names = []


class MatrixTicket(msgspec.Struct, frozen=True):
    """The addresses of a matrix: its page and its document. `cells` is the number of its compilations."""

    id: str
    url: str
    api: str
    cells: int


@blueprint.post(f"{API}/matrices")
@documented({202: MatrixTicket}, MatrixBody, FOLLOWER)
def submit() -> Response:
    """Compile a kernel for several configurations, targets and Triton versions.

    Equal matrices are stored once. Stored results are not compiled again.
    """
    here = services()
    matrix = _requested(here, read_body(MatrixBody, here.settings.source_limit_bytes))
    stored = store_collection("matrix", matrix.content(), matrix.request.private)
    return start_matrix(here, stored.id, matrix)


@blueprint.get(f"{API}/matrices/<matrix_id>")
@documented({200: MatrixDocument}, None, FOLLOWER)
def show(matrix_id: str) -> Response:
    """Return a matrix: the state and the metrics of each cell so far."""
    stored = stored_matrix(matrix_id)
    services().matrices.poll(stored.id)
    return json_response(document_of(stored))


@blueprint.post(f"{API}/matrices/<matrix_id>")
@documented({202: MatrixTicket}, None, FOLLOWER)
def compile_missing(matrix_id: str) -> Response:
    """Compile the cells of a matrix that have no result, because they were canceled or removed."""
    return start_matrix(services(), matrix_id, Matrix.of(stored_matrix(matrix_id).content))


@blueprint.delete(f"{API}/matrices/<matrix_id>")
@documented({202: FollowersDocument, 204: None}, None, FOLLOWER)
def cancel(matrix_id: str) -> Response:
    """Cancel the unfinished cells of a matrix. Results stay.

    The status is 202 if the matrix continues, because others have submitted it too.
    """
    followers = services().matrices.cancel(stored_matrix(matrix_id).id)
    return json_response(FollowersDocument(followers), 202) if followers else Response(status=204)


@blueprint.get(f"{API}/matrices/<matrix_id>/table.csv")
@documented({200: "text/csv"})
def table_csv(matrix_id: str) -> Response:
    """Return the cells of a matrix as CSV, with all settings and metrics."""
    document = document_of(stored_matrix(matrix_id))
    return revalidated(Response(csv_table(document), mimetype="text/csv"))


@blueprint.get(f"{API}/matrices/<matrix_id>/table.md")
@documented({200: "text/markdown"}, None, Parameter("links", bool, '"1": each cell is a link to its page.'))
def table_markdown(matrix_id: str) -> Response:
    """Return the cells of a matrix as a table in Markdown."""
    host = request.host_url.rstrip("/") if request.args.get("links") == "1" else ""
    table = markdown_table(document_of(stored_matrix(matrix_id)), host)
    return revalidated(Response(table, mimetype="text/markdown"))


@blueprint.get("/m/<matrix_id>")
def page(matrix_id: str) -> tuple[str, int]:
    """Return the page of a matrix. The browser asks the API for its data."""
    status, preview = 200, None
    try:
        stored = stored_matrix(matrix_id)
        preview = None if is_about_private() else _preview(stored)
    except NotFound:
        status = 404
    return table_page("matrix", "the table", f"{matrix_api(matrix_id)}/table.md", preview), status


def document_of(stored: Collection) -> MatrixDocument:
    """Return the document of a stored matrix."""
    return matrix_document(services().matrices, services().profiles, stored)


def _requested(here: Services, body: MatrixBody) -> Matrix:
    """Return the matrix of a body.

    Raises:
        InvalidRequest and its subclasses, SourceTooLarge.
    """
    base = requested_compilation(here, body.compilation)
    targets = dict.fromkeys(map(here.target_name, body.targets))
    tritons = dict.fromkeys(map(here.triton_version, body.tritons))
    if body.configurations == "all":
        inspected = here.queue.ask(inspection_of(base)).result.inspection
        configurations = configurations_of(base, inspected or Inspection((), ()))
    else:
        configurations = tuple(body.configurations) or (Configuration(),)
    return Matrix(base, configurations, tuple(targets) or (base.target,), tuple(tritons) or (base.triton,))


def start_matrix(here: Services, matrix_id: str, matrix: Matrix) -> Response:
    """Start to compile a stored matrix, and return its addresses."""
    here.matrices.start(matrix_id, matrix.cells)
    ticket = MatrixTicket(matrix_id, matrix_url(matrix_id), matrix_api(matrix_id), len(matrix.cells))
    return json_response(ticket, 202)


def _preview(stored: Collection) -> dict[str, str]:
    """Return the preview of a matrix: its kernel, and the lengths of its lists."""
    matrix = Matrix.of(stored.content)
    lengths = {
        "configuration": len(matrix.configurations),
        "target": len(matrix.targets),
        "Triton version": len(matrix.tritons),
    }
    counts = (f"{count} {word}{'' if count == 1 else 's'}" for word, count in lengths.items())
    return {
        "title": f"{visible(matrix.request.kernel or 'Matrix')} · triton·explorer",
        "description": " × ".join(counts),
        "url": url_for("matrices.page", matrix_id=stored.id, _external=True),
    }
