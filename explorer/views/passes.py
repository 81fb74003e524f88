"""The module after each compiler pass: its text, and its highlighted lines."""

from __future__ import annotations

from flask import Blueprint, Response

from explorer.documents import API, LinesDocument
from explorer.queries.pass_language import pass_language
from explorer.views.http import json_part, text_part
from explorer.views.lines import RANGE, lines_document
from explorer.views.operation import documented
from explorer.views.records import find_compilation

blueprint = Blueprint("passes", __name__, url_prefix=f"{API}/compilations/<compilation_id>/passes")


@blueprint.get("/<int:index>")
@documented({200: "text/plain"})
def text(compilation_id: str, index: int) -> Response:
    """Return the snapshot after a pass."""
    record = find_compilation(compilation_id)
    address = record.address_after_pass(index)
    return text_part(record, b"" if address is None else record.read(address))


@blueprint.get("/<int:index>/lines")
@documented({200: LinesDocument}, None, *RANGE)
def lines(compilation_id: str, index: int) -> Response:
    """Return highlighted lines of the snapshot after a pass."""
    record = find_compilation(compilation_id)
    return json_part(record, lines_document(record.lines_after_pass(index), pass_language(record, index)))
