"""The compiler's answer about layouts, with properties that follow from linear layouts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import prod
from types import MappingProxyType

import msgspec

from explorer.analysis.layouts.linear_layout import Coordinates, LinearLayout
from explorer.analysis.mlir.launch_offsets import Numbers
from explorer.model import Argument
from explorer.model.answers import Bases, Layouts, Operand, Operation, TensorLayout
from explorer.model.hardware import Target

#: The beginnings of the types of pointers and integers.
_ADDRESSES = ("*", "i", "u")


class LayoutRow(msgspec.Struct, frozen=True):
    """One layout. The bases come from the compiler; the counts are computed from them.

    `replication` is the number of places that hold the same element, `contiguity` the number of consecutive
    elements along each dimension that a thread (or memory) holds. `thread_tile` and `warp_tile` are the boxes
    that one thread and one warp reach. `free` is a mask of the bits of each input that do not matter.
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
    """The layouts of a module by index, as the compiler reports them and as linear layouts.

    `not_divisible` are the names of the arguments that the compiler cannot assume to be divisible by 16.
    `values` has the integer arguments of the launch, and `offsets` the places of the elements of accesses
    with these values, by line.
    """

    def __init__(
        self,
        answer: Layouts,
        target: Target,
        arguments: Iterable[Argument] = (),
        values: Mapping[str, int] = MappingProxyType({}),
        offsets: Mapping[int, Numbers] = MappingProxyType({}),
    ) -> None:
        self.answer = answer
        self.target = target
        self.values = values
        self.offsets = offsets
        self.not_divisible = tuple(
            each.name for each in arguments if not each.specialization and each.type.startswith(_ADDRESSES)
        )
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
        """The number of banks of shared memory, 4 bytes each."""
        return self.target.device.multiprocessor.banks

    def offsets_of(self, line: int, shape: Sequence[int]) -> Sequence[int] | None:
        """Return the places of the elements of an access at the values of the launch; None: not known."""
        numbers = self.offsets.get(line)
        if numbers is None:
            return None
        values = numbers.values if numbers.shape else [*numbers.values] * prod(shape)
        return values if len(values) == prod(shape) else None

    def launch_values(self, line: int) -> dict[str, int] | None:
        """Return the arguments that the distances between elements of an access follow from."""
        numbers = self.offsets.get(line)
        return None if numbers is None else {name: self.values[name] for name in sorted(numbers.names)}

    def operands(self, operation: Operation, memory: str) -> list[Operand]:
        """Return the operands and results of an operation in a memory whose layouts are known."""
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
        # Shapes that are not powers of two have no such algebra.
        return None
