"""The live ranges of the tensors of a TTGIR module, and the registers per thread that they need.

In: the text of the module, and the number of elements of each tensor that a thread holds. Out: a `LiveRange`
for each tensor in registers, and the sum of registers line by line.

This is a model of later decisions of the compiler of the machine code. A tensor needs its elements per thread
times their bits, divided by 32; duplicates count once. A tensor with the elements of another in a new shape
(`tt.expand_dims`, `tt.broadcast`, …) is a view of it. A constant needs no registers, a splat the registers of
one element. A value that every iteration of a loop uses lives as long as the loop. The last use of a value
frees its registers for the result of the operation, so that sums apply after each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from explorer.analysis.mlir.operations import Function, Operation, read_functions, shown_name
from explorer.model.hardware import REGISTER_BITS

LineNumber = int

#: Results that are their first operand in another shape.
_VIEWS = {"tt.expand_dims", "tt.broadcast", "tt.unsplat", "ttng.warp_group_dot_wait"}
_LOOPS = {"scf.for", "scf.while"}
_CONSTANT = re.compile(r"^%\S+ = arith\.constant dense<(?![\[\"])")


@dataclass(frozen=True)
class Held:
    """The part of a tensor that a thread holds: the number of different elements, and their bits."""

    type: str
    elements: int
    element_bits: int


@dataclass(frozen=True)
class LiveRange:
    """A tensor in registers, from line `first`, which makes it, to line `last` of the text, its last use.

    `registers` is the number per thread, `views` are other names of the same values.
    """

    name: str
    function: str
    operation: str
    type: str
    elements: int
    element_bits: int
    registers: int
    first: LineNumber
    last: LineNumber
    views: tuple[str, ...]
    uses: tuple[LineNumber, ...]


def live_ranges(text: str, held: Mapping[tuple[str, LineNumber], Held]) -> list[LiveRange]:
    """Find the live ranges; `held` is by a value's name and the line that defines it."""
    return [each for function in read_functions(text) for each in _of_function(function, held)]


def pressure(ranges: list[LiveRange], lines: int) -> list[int]:
    """Return the registers of all tensors that are alive after each line, from line 1 on."""
    changes = [0] * (lines + 2)
    for each in ranges:
        changes[each.first] += each.registers
        changes[each.last] -= each.registers
    total, found = 0, []
    for change in changes[1 : lines + 1]:
        total += change
        found.append(total)
    return found


@dataclass
class _Value:
    """A value while its range is being found."""

    name: str
    operation: Operation
    first: LineNumber
    inside: bool

    def __post_init__(self) -> None:
        self.uses: list[Operation] = []
        self.views: list[str] = []


def _of_function(function: Function, held: Mapping[tuple[str, LineNumber], Held]) -> Iterator[LiveRange]:
    values: dict[str, _Value] = {}
    for operation in function.operations:
        # The results of a loop or a branch exist after its end.
        end = operation.end_line if operation.regions and operation.end_line else operation.line
        for name in operation.results:
            values[name] = _Value(name, operation, end, inside=False)
        for region in operation.regions:
            for block in region.blocks:
                for name in block.arguments:
                    values[name] = _Value(name, operation, operation.line, inside=True)
    roots = _roots(function, held)
    for operation in function.operations:
        for operand in operation.operands:
            value = values.get(roots.get(operand, operand))
            if value is not None:
                value.uses.append(operation)
    for view, root in roots.items():
        if root in values:
            values[root].views.append(shown_name(view))
    for value in values.values():
        known = held.get((shown_name(value.name), value.operation.line))
        if known is not None and value.name not in roots and value.operation is not function.operation:
            yield _range(function, value, known)


def _roots(function: Function, held: Mapping[tuple[str, LineNumber], Held]) -> dict[str, str]:
    """For each view the value that it is a view of."""
    roots: dict[str, str] = {}
    for operation in sorted(function.operations, key=lambda each: each.line):
        if operation.name in _VIEWS:
            for source, result in zip(operation.operands, operation.results, strict=False):
                if (shown_name(result), operation.line) in held:
                    roots[result] = roots.get(source, source)
    return roots


def _range(function: Function, value: _Value, known: Held) -> LiveRange:
    operation = value.operation
    elements = known.elements
    if not value.inside and _CONSTANT.match(operation.text):
        elements = 0
    elif not value.inside and operation.name == "tt.splat":
        elements = min(elements, 1)
    last = max((_last_line(value, use) for use in value.uses), default=value.first)
    return LiveRange(
        name=shown_name(value.name),
        function=function.name,
        operation=operation.name,
        type=known.type,
        elements=elements,
        element_bits=known.element_bits,
        registers=-(-elements * known.element_bits // REGISTER_BITS),
        first=value.first,
        last=max(last, value.first),
        views=tuple(value.views),
        uses=tuple(sorted({use.line for use in value.uses})),
    )


def _last_line(value: _Value, use: Operation) -> LineNumber:
    """Return the line to which a use keeps a value alive: the end of the outermost loop that repeats it."""
    home = value.operation if value.inside else value.operation.parent
    last = use.line
    around = use.parent
    while around is not None and around is not home:
        if around.name in _LOOPS:
            last = max(last, around.end_line)
        around = around.parent
    return last
