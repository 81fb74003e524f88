"""The query for the live ranges of the tensors of TTGIR, in registers per thread."""

from __future__ import annotations

import math

import msgspec

from explorer.analysis.mlir.tensor_registers import Held, LiveRange, live_ranges, pressure
from explorer.errors import NotAnswerable
from explorer.model.answers import Layouts, TensorLayout
from explorer.queries.query import Query, Subject
from explorer.queries.stage_lines import source_lines

_STAGE = "ttgir"


class TensorRegistersDocument(msgspec.Struct, frozen=True):
    """Tensors of the stage TTGIR in the order of their lines, and the sum of their registers.

    `pressure[i]` is the sum after line i+1 of the stage, `source_lines[i]` the source line of that line
    (0: none). `source` names the origin: elements come from the compiler, live ranges and sums from a model.
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
        raise NotAnswerable("The result has no TTGIR, which has the layouts. See its messages.")
    stage = record.stage(_STAGE)
    text = record.text(stage.text)
    answer = subject.ask_compiler("layouts", text, Layouts)
    held: dict[tuple[str, int], Held] = {}
    for layout in answer.layouts:
        if layout.memory != "registers" or layout.bases is None:
            continue
        shape = "×".join(map(str, layout.shape))
        elements = elements_per_thread(layout)
        what = Held(f"{shape} {layout.element} {layout.label}", elements, layout.element_bits)
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


def elements_per_thread(layout: TensorLayout) -> int:
    """Return the number of different elements that a thread holds. The layout must have bases."""
    assert layout.bases is not None
    held = next((each.bases for each in layout.bases.inputs if each.name == "register"), ())
    return math.prod(2 for basis in held if any(basis))


QUERY = Query(
    name="tensor_registers",
    summary="Live ranges of the tensors of TTGIR, in registers per thread, and their sum line by line.",
    version=2,
    document=TensorRegistersDocument,
    find=_find,
)
