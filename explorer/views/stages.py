"""The texts of the stages, their lines, and where these come from."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, request

from explorer.analyses import Parameter
from explorer.analysis.operations import operation_lines, operations_by_source_line
from explorer.model import Frame
from explorer.store import Record
from explorer.views.http import json_part, text_part
from explorer.views.lines import RANGE, LinesDocument, lines_document
from explorer.views.links import API
from explorer.views.operation import documented
from explorer.views.records import find_compilation

blueprint = Blueprint("stages", __name__, url_prefix=f"{API}/compilations/<compilation_id>/stages")

#: Index of the file, line, column, function.
FrameRow = tuple[int, int, int, str]


class LocationsDocument(msgspec.Struct, frozen=True):
    """Where each shown line comes from.

    `locations` are lists of frames, the innermost first; a frame is the index of its file in `files`,
    line, column and function; the user's own source is the file "". `lines[i]` are indices into
    `locations` for line i+1, and `source_lines[i]` the lines of the user's source that it stems from.
    `operations` says how many lines are operations or instructions, and `source_line_operations` how many
    of these stem from a line of the user's source, as pairs of its number and the count.
    """

    files: list[str]
    locations: list[list[FrameRow]]
    lines: tuple[tuple[int, ...], ...]
    source_lines: list[tuple[int, ...]]
    operations: int
    source_line_operations: list[tuple[int, int]]


@blueprint.get("/<name>")
@documented({200: "text/plain"}, None, Parameter("raw", bool, "1: the text as the tool printed it."))
def text(compilation_id: str, name: str) -> Response:
    """The text of a stage."""
    record = find_compilation(compilation_id)
    stage = record.stage(name)
    wants_raw = request.args.get("raw") == "1" and stage.raw is not None
    return text_part(record, record.read(stage.raw if wants_raw and stage.raw else stage.text))


@blueprint.get("/<name>/lines")
@documented({200: LinesDocument}, None, *RANGE)
def lines(compilation_id: str, name: str) -> Response:
    """Highlighted lines of a stage."""
    record = find_compilation(compilation_id)
    stage = record.stage(name)
    return json_part(record, lines_document(record.text(stage.text), stage.language))


@blueprint.get("/<name>/locations")
@documented({200: LocationsDocument})
def locations(compilation_id: str, name: str) -> Response:
    """Where the lines of a stage come from."""
    record = find_compilation(compilation_id)
    return json_part(record, locations_of(record, name))


def locations_of(record: Record, name: str) -> LocationsDocument:
    """Where the lines of a stage come from, in terms of the user's source and of other files.

    Raises:
        NotFound: there is no such stage (yet).
    """
    stage = record.stage(name)
    stored = record.locations(stage)
    is_operation = operation_lines(record.text(stage.text).split("\n"), stage.language)
    files: dict[str, int] = {}
    rows = [[_row(frame, files) for frame in location.frames] for location in stored.locations]
    source_lines = stored.source_lines()
    counts = operations_by_source_line(is_operation, source_lines)
    return LocationsDocument(
        list(files), rows, stored.line_locations, source_lines, sum(is_operation), list(counts.items())
    )


def _row(frame: Frame, files: dict[str, int]) -> FrameRow:
    return (files.setdefault(frame.file, len(files)), frame.line, frame.column, frame.function)
