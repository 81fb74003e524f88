"""The layouts of a module's tensors and buffers, how data moves between them, and to and from memory."""

from __future__ import annotations

import msgspec

from explorer.analyses.analysis import Analysis, Parameter, Subject
from explorer.analyses.emission import Emission
from explorer.analyses.laid_out import LayoutRow, Survey
from explorer.analyses.layout_accesses import (
    AccessRow,
    MatrixRow,
    accesses,
    matrix_products,
)
from explorer.analyses.layout_conversions import (
    ConversionRow,
    SharedAccessRow,
    conversions,
    shared_accesses,
)
from explorer.errors import InvalidRequest, NotAnswerable
from explorer.pipeline.questions.layouts import Layouts
from explorer.pipeline.targets import find_target
from explorer.store import Record
from explorer.store.entries import StageEntry

_DEFAULT_STAGE = "ttgir"
_STAGES = ("glir", "ttir", "ttgir")


class LayoutsDocument(msgspec.Struct, frozen=True):
    """All layouts of one text; the operations that move data refer to them by index.

    `stage` or `pass_index` say which text it is, in whose lines everything is counted.
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
    survey = Survey(subject.ask("layouts", text, Layouts), target)
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
    """Which text is asked about; the stage only where its lines have locations."""
    given = subject.parameters
    if "pass" in given:
        if "stage" in given:
            raise InvalidRequest("Give either a stage or a pass, not both.")
        compiler_pass = record.compiler_pass(int(given["pass"]))
        text = record.text_after_pass(compiler_pass.index)
        if not text:
            raise NotAnswerable("There is no module yet after this pass.")
        return compiler_pass.stage, compiler_pass.index, text, None
    name = given.get("stage", _DEFAULT_STAGE)
    if name == _DEFAULT_STAGE and name not in record.result.stages:
        raise NotAnswerable("The compilation stopped before TTGIR, where tensors get their layouts.")
    stage = record.stage(name)
    if name not in _STAGES:
        raise NotAnswerable(f"{stage.title} has no layouts: they are in TTGIR and in its passes.")
    return name, None, record.text(stage.text), stage


ANALYSIS = Analysis(
    name="layouts",
    summary="The layouts of tensors and buffers, and how data moves between them and memory.",
    version=4,
    document=LayoutsDocument,
    find=_find,
    parameters=(
        Parameter("stage", str, "The stage to look at: ttgir when left out."),
        Parameter("pass", int, "The index of a pass: the module after it."),
    ),
)
