"""Two compilations side by side: what was asked differently, and what became of it."""

from __future__ import annotations

from flask import Blueprint, Response, request

from explorer import comparison
from explorer.analyses import Parameter
from explorer.comparison import ComparisonDocument, DiffDocument
from explorer.store import Record
from explorer.views.http import json_part
from explorer.views.links import API
from explorer.views.operation import documented
from explorer.views.records import find_compilation

blueprint = Blueprint(
    "compare", __name__, url_prefix=f"{API}/compilations/<compilation_id>/compare/<other_id>"
)


@blueprint.get("")
@documented({200: ComparisonDocument})
def show(compilation_id: str, other_id: str) -> Response:
    """Two compilations, aligned: what was asked differently, stages, passes, resources."""
    before, after = _records(compilation_id, other_id)
    url = f"{API}/compilations/{before.id}/compare/{after.id}"
    document = comparison.compare(before, after, url)
    return json_part(_less_final(before, after), document)


@blueprint.get("/stages/<name>")
@documented({200: DiffDocument}, None, Parameter("other", str, "Another stage of the second compilation."))
def stage(compilation_id: str, other_id: str, name: str) -> Response:
    """Where a stage differs between two compilations, or two stages of one or two of them."""
    before, after = _records(compilation_id, other_id)
    diff = comparison.stage_diff(before, after, name, request.args.get("other"))
    return json_part(_less_final(before, after), diff)


@blueprint.get("/source")
@documented({200: DiffDocument})
def source(compilation_id: str, other_id: str) -> Response:
    """Where the sources of two compilations differ."""
    before, after = _records(compilation_id, other_id)
    return json_part(_less_final(before, after), comparison.source_diff(before, after))


def _records(compilation_id: str, other_id: str) -> tuple[Record, Record]:
    return find_compilation(compilation_id), find_compilation(other_id)


def _less_final(before: Record, after: Record) -> Record:
    """The one that decides how long an answer about both may be kept."""
    return after if before.is_final else before
