"""The module after each compiler pass, and what the pass has changed."""

from __future__ import annotations

from flask import Blueprint, Response

from explorer.analysis.diff import unified_diff
from explorer.comparison import DiffDocument
from explorer.lexers import LEXERS
from explorer.store import Record
from explorer.views.http import json_part, text_part
from explorer.views.lines import RANGE, LinesDocument, lines_document
from explorer.views.links import API
from explorer.views.operation import documented
from explorer.views.records import find_compilation

blueprint = Blueprint("passes", __name__, url_prefix=f"{API}/compilations/<compilation_id>/passes")


@blueprint.get("/<int:index>")
@documented({200: "text/plain"})
def text(compilation_id: str, index: int) -> Response:
    """The module after a pass; where that changed nothing, as an earlier pass has left it."""
    record = find_compilation(compilation_id)
    return text_part(record, record.text_after_pass(index))


@blueprint.get("/<int:index>/lines")
@documented({200: LinesDocument}, None, *RANGE)
def lines(compilation_id: str, index: int) -> Response:
    """Highlighted lines of the module after a pass."""
    record = find_compilation(compilation_id)
    return json_part(record, lines_document(record.text_after_pass(index), language_of(record, index)))


@blueprint.get("/<int:index>/diff")
@documented({200: "text/plain"})
def diff(compilation_id: str, index: int) -> Response:
    """What a pass has changed, as a unified diff. A value that was only renumbered is no change."""
    record = find_compilation(compilation_id)
    before, after = record.text_before_pass(index), record.text_after_pass(index)
    return text_part(record, unified_diff(before, after))


@blueprint.get("/<int:index>/alignment")
@documented({200: DiffDocument})
def alignment(compilation_id: str, index: int) -> Response:
    """The module before and after a pass as runs of equal and of changed lines, and what was only moved."""
    record = find_compilation(compilation_id)
    return json_part(record, alignment_of(record, index))


def alignment_of(record: Record, index: int) -> DiffDocument:
    """What a pass made of its module, line by line.

    Raises:
        NotFound: there is no such pass (yet).
    """
    return DiffDocument.with_moves(record.text_before_pass(index), record.text_after_pass(index))


def language_of(record: Record, index: int) -> str:
    """The language of the module after a pass.

    Passes work on MLIR up to the end: those that produce LLVM IR on its dialect of that name. LLVM's own
    work on LLVM IR.

    Raises:
        NotFound: there is no such pass (yet).
    """
    stage = record.compiler_pass(index).stage
    if record.request.task == "llvm-passes":
        return "llir"
    return stage if stage != "llir" and stage in LEXERS else "mlir-llvm"
