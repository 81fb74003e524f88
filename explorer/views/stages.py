"""The texts of the stages, their lines, and the source locations of the lines."""

from __future__ import annotations

from flask import Blueprint, Response, request

from explorer.documents import (
    API,
    MOST_LINES,
    FoundLinesDocument,
    LinesDocument,
    LocationsDocument,
    TextLinesDocument,
)
from explorer.errors import InvalidRequest
from explorer.queries import Parameter
from explorer.views.http import json_part, query_integer, text_part
from explorer.views.lines import RANGE, asked_range, lines_document
from explorer.views.operation import documented
from explorer.views.records import find_compilation

blueprint = Blueprint("stages", __name__, url_prefix=f"{API}/compilations/<compilation_id>/stages")

SEARCHED = Parameter("text", str, "Part of a line.")
FIRST = Parameter("first", int, f"Index of the first found line. At most {MOST_LINES:,} lines are returned.")
_LONGEST_SEARCHED = 200


@blueprint.get("/<name>")
@documented({200: "text/plain"}, None, Parameter("raw", bool, "1: the text as the tool printed it."))
def text(compilation_id: str, name: str) -> Response:
    """Return the text of a stage."""
    record = find_compilation(compilation_id)
    stage = record.stage(name)
    wants_raw = request.args.get("raw") == "1" and stage.raw is not None
    return text_part(record, record.read(stage.raw if wants_raw and stage.raw else stage.text))


@blueprint.get("/<name>/lines")
@documented({200: LinesDocument}, None, *RANGE)
def lines(compilation_id: str, name: str) -> Response:
    """Return highlighted lines of a stage."""
    record = find_compilation(compilation_id)
    stage = record.stage(name)
    return json_part(record, lines_document(record.lines(stage.text), stage.language))


@blueprint.get("/<name>/text")
@documented({200: TextLinesDocument}, None, *RANGE)
def text_lines(compilation_id: str, name: str) -> Response:
    """Return lines of a stage without highlighting. Other lines are not held in memory."""
    record = find_compilation(compilation_id)
    stage = record.stage(name)
    return json_part(record, TextLinesDocument.of(record.lines(stage.text), *asked_range()))


@blueprint.get("/<name>/search")
@documented({200: FoundLinesDocument}, None, SEARCHED, FIRST)
def search(compilation_id: str, name: str) -> Response:
    """Return the lines of a stage that contain a text, in upper or lower case."""
    record = find_compilation(compilation_id)
    stage = record.stage(name)
    searched = request.args.get(SEARCHED.name, "")
    if not 0 < len(searched) <= _LONGEST_SEARCHED:
        raise InvalidRequest(f"'text' must have 1 to {_LONGEST_SEARCHED} characters, got {len(searched):,}.")
    first = query_integer(FIRST.name, 0)
    return json_part(record, FoundLinesDocument.of(record.lines(stage.text), searched, first))


@blueprint.get("/<name>/locations")
@documented({200: LocationsDocument})
def locations(compilation_id: str, name: str) -> Response:
    """Return the source locations of the lines of a stage."""
    record = find_compilation(compilation_id)
    return json_part(record, LocationsDocument.of(record, record.stage(name)))
