"""The scalar values of TTGIR: integers, views of memory, and unknown values.

In: an operation of the dialect `arith` with the values of its operands. Out: its value. Integers wrap around
at the width of their type and are signed, except that an `i1` is 0 or 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from explorer.analysis.mlir.operations import Operation

_CONSTANT = re.compile(r" = arith\.constant (?:\{[^{}]*\} )?(-?\d{1,19}|true|false)(?: |$)")
_TYPE = re.compile(r"(?:i(\d{1,2})|index)$")
_PREDICATE = re.compile(r"arith\.cmpi (\w+),")


class NotEvaluated(Exception):
    """The execution cannot continue: the message says why. `line` is the operation's line, from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class TooLong(Exception):
    """The execution takes more operations or steps than are evaluated."""


class ArgumentNeeded(Exception):
    """Control depends on an argument of the kernel, or on a size of the grid, whose value is not given."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class Memory:
    """A view of an allocation: the line of its operation, and the indices so far. No index: all of it."""

    root: int
    path: tuple[int, ...] = ()

    def overlaps(self, other: Memory) -> bool:
        """Return whether both have a byte in common."""
        shared = min(len(self.path), len(other.path))
        return self.root == other.root and self.path[:shared] == other.path[:shared]


@dataclass(frozen=True)
class Unknown:
    """An unknown value: the operation that makes it, or the `argument` that alone determines it."""

    line: int
    operation: str
    argument: str = ""


Value = int | Memory | Unknown

_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "eq": lambda one, other: one == other,
    "ne": lambda one, other: one != other,
    "lt": lambda one, other: one < other,
    "le": lambda one, other: one <= other,
    "gt": lambda one, other: one > other,
    "ge": lambda one, other: one >= other,
}


def _divide(one: int, other: int) -> int:
    quotient = abs(one) // abs(other)
    return quotient if (one < 0) == (other < 0) else -quotient


#: Operations of two integers by their names without "s" or "u" at the end, which says how to read them.
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "addi": lambda one, other: one + other,
    "subi": lambda one, other: one - other,
    "muli": lambda one, other: one * other,
    "andi": lambda one, other: one & other,
    "ori": lambda one, other: one | other,
    "xori": lambda one, other: one ^ other,
    "shli": lambda one, other: one << (other & 63),
    "shrs": lambda one, other: one >> (other & 63),
    "shru": lambda one, other: one >> (other & 63),
    "divs": _divide,
    "divu": lambda one, other: one // other,
    "rems": lambda one, other: one - other * _divide(one, other),
    "remu": lambda one, other: one % other,
    "ceildivs": lambda one, other: -(-one // other),
    "ceildivu": lambda one, other: -(-one // other),
    "floordivs": lambda one, other: one // other,
    "mins": min,
    "minu": min,
    "maxs": max,
    "maxu": max,
}
_CASTS = ("extsi", "extui", "trunci", "index_cast", "index_castui")


def unknown_of(operation: Operation, operands: Sequence[Value]) -> Unknown:
    """Return the value of an operation whose operands are not all known, or that is not evaluated."""
    unknown = [each for each in operands if isinstance(each, Unknown)]
    beyond = [each for each in unknown if not each.argument]
    return (beyond or unknown or [Unknown(operation.line, operation.name)])[0]


def constant_of(operation: Operation) -> int | None:
    """Return the value of a constant; None: it is no integer."""
    found = _CONSTANT.search(operation.text)
    if found is None:
        return None
    return int(found[1] == "true") if found[1] in ("true", "false") else int(found[1])


def evaluate(operation: Operation, operands: Sequence[Value]) -> Value:
    """Return the result of a scalar operation of `arith`."""
    name = operation.name.removeprefix("arith.")
    if name == "constant":
        value = constant_of(operation)
        return Unknown(operation.line, operation.name) if value is None else value
    if name == "select" and len(operands) == 3 and isinstance(operands[0], int):
        return operands[1] if operands[0] else operands[2]
    numbers = [each for each in operands if isinstance(each, int)]
    types = operation.text.rpartition(" : ")[2].split(" to ")
    widths = [int(found[1] or 64) for each in types if (found := _TYPE.match(each.strip()))]
    if len(numbers) < len(operands) or not widths:
        return unknown_of(operation, operands)
    value = _calculate(operation, name, numbers, widths)
    return unknown_of(operation, operands) if value is None else _wrap(value, widths[-1])


def _calculate(operation: Operation, name: str, numbers: list[int], widths: list[int]) -> int | None:
    if name in _CASTS and len(numbers) == 1:
        if name == "extsi" and widths[0] == 1:
            return -numbers[0]
        return _unsigned(numbers[0], widths[0]) if name.endswith("ui") else numbers[0]
    if len(numbers) != 2:
        return None
    if name == "cmpi":
        return _compare(operation, numbers, widths)
    key = name if name in _ARITHMETIC else name.removesuffix("i")
    calculate = _ARITHMETIC.get(key)
    if calculate is None:
        return None
    if key.endswith("u"):
        numbers = [_unsigned(each, widths[0]) for each in numbers]
    try:
        return calculate(*numbers)
    except ZeroDivisionError:
        return None


def _compare(operation: Operation, numbers: list[int], widths: list[int]) -> int | None:
    found = _PREDICATE.search(operation.text)
    predicate = found[1] if found else ""
    if predicate.startswith("u"):
        numbers = [_unsigned(each, widths[0]) for each in numbers]
    compare = _COMPARISONS.get(predicate if predicate in ("eq", "ne") else predicate[1:])
    widths[:] = [1]
    return None if compare is None else int(compare(*numbers))


def _unsigned(value: int, width: int) -> int:
    return value & ((1 << width) - 1)


def _wrap(value: int, width: int) -> int:
    value = _unsigned(value, width)
    return value - (1 << width) if width > 1 and value >> (width - 1) else value
