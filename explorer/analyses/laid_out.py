"""A compiler's answer about layouts, with what the algebra adds to it."""

from __future__ import annotations

from functools import cached_property

import msgspec

from explorer.analysis.linear_layout import Coordinates, LinearLayout
from explorer.pipeline.questions.layouts import Layouts, Operand, Operation, TensorLayout
from explorer.pipeline.questions.linear_bases import Bases
from explorer.pipeline.targets import Target


class LayoutRow(msgspec.Struct, frozen=True):
    """One layout. What is counted is modelled from the bases, which are the compiler's.

    `replication` is how many places hold the same element, `contiguity` how many neighbours along each
    dimension a thread (or memory) holds in a row, `thread_tile` and `warp_tile` are the boxes that one
    thread and one warp reach. `free` has for each input the bits that do not matter, as a mask.
    """

    index: int
    label: str
    encoding: str
    kind: str
    memory: str
    shape: tuple[int, ...]
    element: str
    element_bits: int
    bases: Bases | None
    reason: str
    source: str
    values: tuple[tuple[str, int], ...]
    replication: int = 0
    contiguity: Coordinates = ()
    thread_tile: Coordinates = ()
    warp_tile: Coordinates = ()
    free: dict[str, int] = {}


class Survey:
    """The layouts of a module by index, as the compiler says them and as linear layouts."""

    def __init__(self, answer: Layouts, target: Target) -> None:
        self.answer = answer
        self.target = target
        self._linear = [_linear(each.bases) for each in answer.layouts]

    def layout(self, index: int) -> TensorLayout:
        return self.answer.layouts[index]

    def linear(self, index: int) -> LinearLayout | None:
        return self._linear[index]

    @cached_property
    def rows(self) -> list[LayoutRow]:
        return [self._row(index) for index in range(len(self._linear))]

    @property
    def banks(self) -> int:
        """Of shared memory, 4 bytes each."""
        return 64 if self.target.architecture == "gfx950" else 32

    def operands(self, operation: Operation, memory: str) -> list[Operand]:
        """The operation's operands and results in that memory; their layouts are known."""
        return [
            each
            for each in (*operation.operands, *operation.results)
            if each.layout is not None and self.layout(each.layout).memory == memory
        ]

    def _row(self, index: int) -> LayoutRow:
        layout, linear = self.layout(index), self._linear[index]
        row = LayoutRow(
            index,
            layout.label,
            layout.encoding,
            layout.kind,
            layout.memory,
            layout.shape,
            layout.element,
            layout.element_bits,
            layout.bases,
            layout.reason,
            "compiler",
            tuple((value.name, value.line) for value in layout.values),
        )
        if linear is None:
            return row
        first = linear.inputs[0][0]
        reach_of_a_warp = LinearLayout(
            (("warp", (*linear.bases("register"), *linear.bases("lane"))),), linear.shape
        )
        return msgspec.structs.replace(
            row,
            replication=linear.replication,
            contiguity=tuple(linear.contiguity(each, first) for each in range(len(linear.shape))),
            thread_tile=linear.tile("register") if first == "register" else (),
            warp_tile=reach_of_a_warp.tile("warp") if first == "register" else (),
            free={name: linear.free_bits(name) for name, _ in linear.inputs},
        )


def _linear(bases: Bases | None) -> LinearLayout | None:
    if bases is None:
        return None
    try:
        return LinearLayout(tuple((each.name, each.bases) for each in bases.inputs), bases.shape)
    except ValueError:
        # Shapes that are no powers of two have no such algebra.
        return None
