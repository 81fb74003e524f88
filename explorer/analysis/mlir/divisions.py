"""The divisions of integers of 64 bits in a module, which no GPU has an instruction for.

In: the functions of TTGIR, and the launch. Out: a `WideDivision` for each quotient and remainder whose
divisor is not a constant, since the compiler multiplies in place of a division by a constant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from explorer.analysis.mlir.argument_uses import LOADS
from explorer.analysis.mlir.index_ranges import Range, value_ranges
from explorer.analysis.mlir.operations import Function, Operation
from explorer.analysis.reached import reached

_DIVISIONS = ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui")
_EXTENSIONS = ("arith.extsi", "arith.extui")
_WIDE = re.compile(r": (?:i64|tensor<[\dx]+xi64\b.*)$")
_WIDE_ARGUMENT = re.compile(r"%(\w+): i64\b")


@dataclass(frozen=True)
class WideDivision:
    """A division in line `line` of the text.

    `arguments` are the arguments of 64 bits that an operand is computed from, and `extensions` the lines that
    extend a number of 32 bits for it. `largest` are the largest absolute values of the dividend and of the
    divisor in the launch; None: they are not known.
    """

    line: int
    operation: str
    arguments: tuple[str, ...]
    extensions: tuple[int, ...]
    largest: tuple[int, int] | None

    @property
    def needs_64_bits(self) -> bool:
        return self.largest is not None and max(self.largest) >= 1 << 31


def wide_divisions(
    functions: Iterable[Function], launch: tuple[Mapping[str, int], Sequence[int]] | None
) -> Iterator[WideDivision]:
    """Yield the divisions in the order of the text.

    `launch` is the values of the integer arguments and the grid; None: they are not known.
    """
    for function in functions:
        made = {result: each for each in function.operations for result in each.results}
        # What memory or a condition decides is not computed from the arguments there.
        sources = {
            value: each.operands
            for value, each in made.items()
            if each.name not in (*LOADS, *_EXTENSIONS) and not each.regions
        }
        wide_arguments = set(_WIDE_ARGUMENT.findall(function.operation.text))
        ranges: dict[str, Range] | None = None
        for operation in function.operations:
            if operation.name not in _DIVISIONS or not _WIDE.search(operation.text.partition(" loc(")[0]):
                continue
            if _is_constant(operation.operands[1], made):
                continue
            if ranges is None:
                ranges = value_ranges(function, *launch) if launch else {}
            behind = reached(operation.operands, sources)
            extended = {made[value].line for value in behind & made.keys() if made[value].name in _EXTENSIONS}
            yield WideDivision(
                operation.line,
                operation.name,
                tuple(name for name in _names(function) if name in wide_arguments and f"%{name}" in behind),
                tuple(sorted(extended)),
                _largest(operation, ranges),
            )


def _names(function: Function) -> Iterator[str]:
    return (
        name.removeprefix("%") for region in function.operation.regions for name in region.blocks[0].arguments
    )


def _is_constant(value: str, made: Mapping[str, Operation]) -> bool:
    """Return whether a value is a constant, or is computed from one constant."""
    operation = made.get(value)
    while operation is not None and len(operation.operands) == 1:
        operation = made.get(operation.operands[0])
    return operation is not None and operation.name == "arith.constant"


def _largest(division: Operation, ranges: Mapping[str, Range]) -> tuple[int, int] | None:
    found = [ranges.get(each) for each in division.operands]
    if len(found) != 2 or found[0] is None or found[1] is None:
        return None
    return max(map(abs, found[0])), max(map(abs, found[1]))
