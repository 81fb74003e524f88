"""The answer of the compiler query `layouts`: the layouts of a module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Memory = Literal["registers", "shared", "tensor memory"]
Coordinates = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a linear layout: the coordinates that each of its bits adds."""

    name: str
    bases: tuple[Coordinates, ...]


@dataclass(frozen=True, slots=True)
class Padding:
    """After every `interval` elements, `padding` elements are unused."""

    interval: int
    padding: int


@dataclass(frozen=True, slots=True)
class Bases:
    """A linear layout onto a tensor of `shape`."""

    inputs: tuple[Input, ...]
    shape: tuple[int, ...]
    padding: tuple[Padding, ...] = ()


@dataclass(frozen=True, slots=True)
class AxisInformation:
    """What the compiler knows about a tensor of pointers, by dimension.

    Along a dimension, groups of `contiguity` neighbors are consecutive in memory, the address of the first
    element of a group is divisible by `divisibility` (bytes), and groups of `constancy` neighbors are equal.
    """

    contiguity: tuple[int, ...]
    divisibility: tuple[int, ...]
    constancy: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LayoutValue:
    """A value in the module's text, and the line that defines it."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class TensorLayout:
    """How one encoding lays out tensors of one shape and element.

    `label` is the encoding as in the text. `shape` is the shape of the tensor. If there are several buffers,
    `bases` are for the last dimensions only; for a part of a buffer, they are for the whole buffer. Without
    `bases`, `reason` says why.
    """

    label: str
    encoding: str
    kind: str
    memory: Memory
    shape: tuple[int, ...]
    element: str
    element_bits: int
    bases: Bases | None
    reason: str
    values: tuple[LayoutValue, ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand or a result of an operation. `layout` is an index; None: it has no layout."""

    name: str
    type: str
    layout: int | None


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation that moves data, with what the compiler reports about it.

    `bank_conflicts` are the excess wavefronts of a plain access for each that it needs. None: not queried,
    or `refusal` says why not. `is_trivial`: the conversion moves no data.
    """

    name: str
    line: int
    text: str
    operands: tuple[Operand, ...]
    results: tuple[Operand, ...]
    bank_conflicts: int | None
    is_trivial: bool | None
    refusal: str
    pointer: AxisInformation | None
    mask: AxisInformation | None


@dataclass(frozen=True, slots=True)
class Layouts:
    """All layouts of a module, and the operations that move data between them."""

    layouts: tuple[TensorLayout, ...]
    operations: tuple[Operation, ...]
    axis_refusal: str
