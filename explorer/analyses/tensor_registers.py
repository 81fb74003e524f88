"""Live ranges of the tensors of TTGIR, in registers per thread."""

from __future__ import annotations

import math

import msgspec

from explorer.analyses.analysis import Analysis, Subject
from explorer.analyses.stage_lines import source_lines
from explorer.analysis.tensor_registers import Held, LiveRange, live_ranges, pressure
from explorer.errors import NotAnswerable
from explorer.pipeline.questions.layouts import Layouts, TensorLayout

_STAGE = "ttgir"


class TensorRegistersDocument(msgspec.Struct, frozen=True):
    """Tensors of the stage TTGIR in the order of their lines, and what they take together.

    `pressure[i]` is the sum behind line i+1 of the stage, `source_lines[i]` that line's line of the source
    (0: none). `source` says who says so: elements are the compiler's, live ranges and the sum are modelled.
    """

    tensors: list[LiveRange]
    pressure: list[int]
    source_lines: list[int]
    most: int
    most_line: int
    source: str


def _find(subject: Subject) -> TensorRegistersDocument:
    record = subject.record
    if _STAGE not in record.result.stages:
        raise NotAnswerable("The compilation stopped before TTGIR, which is where tensors get registers.")
    stage = record.stage(_STAGE)
    text = record.text(stage.text)
    answer = subject.ask("layouts", text, Layouts)
    held: dict[tuple[str, int], Held] = {}
    for layout in answer.layouts:
        if layout.memory != "registers" or layout.bases is None:
            continue
        shape = "×".join(map(str, layout.shape))
        what = Held(f"{shape} {layout.element} {layout.label}", _elements(layout), layout.element_bits)
        held |= {(value.name, value.line): what for value in layout.values}
    ranges = sorted(live_ranges(text, held), key=lambda each: (each.first, each.last))
    sums = pressure(ranges, len(text.splitlines()))
    most = max(sums, default=0)
    return TensorRegistersDocument(
        ranges,
        sums,
        source_lines(record, stage),
        most,
        sums.index(most) + 1 if sums else 0,
        "Elements per thread: Triton's linear layouts. Live ranges and their sum: modelled from TTGIR.",
    )


def _elements(layout: TensorLayout) -> int:
    """The different elements that a thread holds: registers that repeat another one are left out."""
    assert layout.bases is not None
    held = next((each.bases for each in layout.bases.inputs if each.name == "register"), ())
    return math.prod(2 for basis in held if any(basis))


ANALYSIS = Analysis(
    name="tensor_registers",
    summary="Live ranges of the tensors of TTGIR, in registers per thread, and their sum line by line.",
    version=1,
    document=TensorRegistersDocument,
    find=_find,
)
