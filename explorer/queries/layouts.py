"""The query for the layouts of a module: tensors, conversions, and accesses to memory."""

from __future__ import annotations

import msgspec

from explorer.analysis.mlir.launch_offsets import launch_offsets
from explorer.analysis.mlir.operations import read_functions
from explorer.errors import InvalidRequest, NotAnswerable
from explorer.model.answers import Layouts
from explorer.model.hardware import find_target
from explorer.queries.emission import Emission
from explorer.queries.layout_accesses import (
    AccessRow,
    MatrixRow,
    accesses,
    matrix_products,
)
from explorer.queries.layout_conversions import (
    ConversionRow,
    SharedAccessRow,
    conversions,
    shared_accesses,
)
from explorer.queries.layout_survey import LayoutRow, Survey
from explorer.queries.query import Parameter, Query, Subject
from explorer.store import Record
from explorer.store.entries import StageEntry

_DEFAULT_STAGE = "ttgir"
_STAGES = ("glir", "ttir", "ttgir")


class LayoutsDocument(msgspec.Struct, frozen=True):
    """All layouts of one text, to which the operations that move data refer by index.

    Lines are lines of the text: of `stage`, or of the module after pass `pass_index`.
    """

    stage: str
    pass_index: int | None
    lanes: int
    banks: int
    layouts: list[LayoutRow]
    conversions: list[ConversionRow]
    accesses: list[AccessRow]
    shared_accesses: list[SharedAccessRow]
    matrix_products: list[MatrixRow]


def _find(subject: Subject) -> LayoutsDocument:
    record = subject.record
    name, pass_index, text, stage = _text(record, subject)
    target = find_target(record.request.target)
    specialized = record.result.specialized
    arguments = specialized.arguments if specialized else ()
    values, grid = (specialized and specialized.launch_values) or ({}, None)
    offsets = {} if grid is None else launch_offsets(read_functions(text), values, grid)
    answer = subject.ask_compiler("layouts", text, Layouts)
    survey = Survey(answer, target, arguments, values, offsets)
    emission = Emission(record, stage)
    return LayoutsDocument(
        name,
        pass_index,
        target.warp_size,
        survey.banks,
        survey.rows,
        conversions(survey, record),
        accesses(survey, emission),
        shared_accesses(survey, emission),
        matrix_products(survey, emission),
    )


def _text(record: Record, subject: Subject) -> tuple[str, int | None, str, StageEntry | None]:
    """Return the requested text; the stage only if its lines have locations."""
    given = subject.parameters
    if "pass" in given:
        if "stage" in given:
            raise InvalidRequest("The parameters `stage` and `pass` exclude each other. Remove one.")
        compiler_pass = record.compiler_pass(int(given["pass"]))
        text = record.text_after_pass(compiler_pass.index)
        if not text:
            raise NotAnswerable("No pass up to this one has a module. Choose a later pass.")
        return compiler_pass.stage, compiler_pass.index, text, None
    name = given.get("stage", _DEFAULT_STAGE)
    if name == _DEFAULT_STAGE and name not in record.result.stages:
        raise NotAnswerable("The result has no TTGIR, which has the layouts. See its messages.")
    stage = record.stage(name)
    if name not in _STAGES:
        raise NotAnswerable(f"{stage.title} has no layouts. Choose TTGIR or one of its passes.")
    return name, None, record.text(stage.text), stage


QUERY = Query(
    name="layouts",
    summary="The layouts of tensors and buffers, and the data movement between them and memory.",
    version=12,
    document=LayoutsDocument,
    find=_find,
    parameters=(
        Parameter("stage", str, "The stage to look at: ttgir when left out."),
        Parameter("pass", int, "The index of a pass: the module after it."),
    ),
)
