"""The ranges of the integers of a module at the sizes of a launch, and the offsets that do not fit.

In: the functions of TTIR or TTGIR, the values of the integer arguments, and the grid. Out: an `Overflow` for
each operation that makes a number outside of its type, if the offset of a pointer is computed from it.

A range is the smallest and the largest value that any program and any element can have. It is exact for the
index arithmetic of kernels: program numbers, `tl.arange`, sums, products, quotients and remainders. Masked
elements count, because their offsets are computed too. Values that memory or an unknown operation makes have
no range, and nothing is said about them. A condition that always holds has the range of `TRUE`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from explorer.analysis.mlir.operations import Function, Operation

Range = tuple[int, int]
#: The integer of one bit that is set, with its sign.
TRUE: Range = (-1, -1)
_AXES = ("x", "y", "z")
_CONSTANT = re.compile(r"arith\.constant (?:dense<)?(-?\d+)>? ?:")
_MADE = re.compile(r"tt\.make_range \{end = (\d+) : i32, start = (\d+) : i32\}")
_AXIS = re.compile(r"tt\.get_(?:program_id|num_programs) (x|y|z)\b")
_TYPE = re.compile(r"(?:x|\b)i(\d+)(?:,[^>]*)?>?$")
#: Operations whose result has the values of the first operand.
_SAME = {
    "tt.splat",
    "tt.expand_dims",
    "tt.broadcast",
    "tt.reshape",
    "tt.trans",
    "ttg.convert_layout",
    "arith.extsi",
    "arith.index_cast",
}
_COMPARED = re.compile(r"arith\.cmpi s(lt|le|gt|ge),")


@dataclass(frozen=True)
class Overflow:
    """An operation in line `line` of the text whose result reaches `value`, outside of its type."""

    line: int
    operation: str
    value: int
    bits: int


def overflows(
    functions: Iterable[Function], arguments: Mapping[str, int], grid: Sequence[int]
) -> list[Overflow]:
    """Return the overflows that reach the offset of a pointer, in the order of the text."""
    return [
        each for function in functions for each in _of_function(function, _given(function, arguments), grid)
    ]


def value_ranges(function: Function, arguments: Mapping[str, int], grid: Sequence[int]) -> dict[str, Range]:
    ranges = _given(function, arguments)
    for _ in _of_function(function, ranges, grid):
        pass
    return ranges


@dataclass(frozen=True)
class Turns:
    """The turns of the loop from `line` to `end_line`: the most that a program makes.

    `shares_programs` is the number of programs that take turns in the loop, each from its own number on;
    0: they do not.
    """

    line: int
    end_line: int
    turns: int
    shares_programs: int


def loop_turns(function: Function, arguments: Mapping[str, int], grid: Sequence[int]) -> Iterator[Turns]:
    """Yield the turns of each loop whose bounds are known."""
    ranges = value_ranges(function, arguments, grid)
    for each in function.operations:
        if each.name == "scf.for":
            low, high, step = (ranges.get(name) for name in each.operands[:3])
            if low and high and step and step[0] > 0:
                turns = max(0, -(-(high[1] - low[0]) // step[0]))
                programs = step[0] if low == (0, step[1] - 1) and low[1] else 0
                yield Turns(each.line, each.end_line, turns, programs)


def _given(function: Function, arguments: Mapping[str, int]) -> dict[str, Range]:
    """Return the ranges of the arguments of the kernel, which is the public function."""
    if not function.operation.text.startswith("tt.func public "):
        return {}
    return {f"%{name}": (value, value) for name, value in arguments.items()}


def _of_function(function: Function, ranges: dict[str, Range], grid: Sequence[int]) -> Iterator[Overflow]:
    """Yield the overflows of a function, and add the ranges of its values to `ranges`."""
    #: The overflow that a value is computed from.
    origins: dict[str, Overflow] = {}
    reported = set()
    # Bodies of loops are visited before the loop itself, but its bounds are needed in them.
    for operation in sorted(function.operations, key=lambda each: each.line):
        if operation.name == "scf.for":
            _bound(operation, ranges)
            continue
        origin = next((origins[each] for each in operation.operands if each in origins), None)
        if operation.name == "tt.addptr":
            if origin is not None and origin not in reported:
                reported.add(origin)
                yield origin
            continue
        if not operation.results:
            continue
        (result, *_) = operation.results
        found = _range(operation, ranges, grid)
        if found is not None:
            bits = _bits(operation.text)
            outside = None if bits is None else _outside(found, bits)
            if outside is None or bits is None:
                ranges[result] = found
            else:
                origin = origin or Overflow(operation.line, operation.name, outside, bits)
        if origin is not None:
            origins[result] = origin


def _bound(loop: Operation, ranges: dict[str, Range]) -> None:
    """Give the variable of a loop its range."""
    arguments = loop.regions[0].blocks[0].arguments if loop.regions else ()
    if not arguments or len(loop.operands) < 3:
        return
    first, end, step = (ranges.get(each) for each in loop.operands[:3])
    if first is not None and end is not None:
        last = max(first[0], end[1] - 1)
        if first[0] == first[1] and step is not None and 0 < step[0] == step[1]:
            last -= (last - first[0]) % step[0]
        ranges[arguments[0]] = first[0], last


def _range(operation: Operation, ranges: Mapping[str, Range], grid: Sequence[int]) -> Range | None:
    """Return the range of the result of an operation; None if it is not known."""
    text = operation.text
    if match := _CONSTANT.search(text):
        return int(match[1]), int(match[1])
    if match := _MADE.search(text):
        return int(match[2]), int(match[1]) - 1
    if match := _AXIS.search(text):
        axis = _AXES.index(match[1])
        size = grid[axis] if axis < len(grid) else 1
        return (size, size) if operation.name == "tt.get_num_programs" else (0, size - 1)
    known = [ranges.get(each) for each in operation.operands]
    if operation.name in _SAME:
        return known[0] if known else None
    if operation.name == "arith.extui":
        return known[0] if known and known[0] is not None and known[0][0] >= 0 else None
    if match := _COMPARED.search(text):
        return _compared(match[1], known) if len(known) == 2 else None
    if operation.name == "arith.select" and len(known) == 3:
        return _joined(known[1], known[2])
    combine = _COMBINED.get(operation.name)
    if combine is None or len(known) != 2:
        return None
    first, second = known
    return None if first is None or second is None else combine(first, second)


def _compared(comparison: str, known: Sequence[Range | None]) -> Range | None:
    """Return the range of a comparison that always holds; None: it may fail."""
    small, large = known if comparison[0] == "l" else reversed(known)
    if small is None or large is None:
        return None
    return TRUE if small[1] < large[0] + (comparison[1] == "e") else None


def _joined(first: Range | None, second: Range | None) -> Range | None:
    if first is None or second is None:
        return None
    return min(first[0], second[0]), max(first[1], second[1])


def _of_ends(combine: Callable[[int, int], int]) -> Callable[[Range, Range], Range]:
    """Return the range of an operation that is monotonic in each operand."""

    def combined(first: Range, second: Range) -> Range:
        values = [combine(one, other) for one in first for other in second]
        return min(values), max(values)

    return combined


def _quotient(first: Range, second: Range) -> Range | None:
    if second[0] <= 0:
        return None
    # The quotient is rounded towards zero.
    return _of_ends(lambda one, other: one // other if one >= 0 else -(-one // other))(first, second)


def _remainder(first: Range, second: Range) -> Range | None:
    if second[0] <= 0 or first[0] < 0:
        return None
    return first if first[1] < second[0] else (0, min(first[1], second[1] - 1))


_COMBINED: dict[str, Callable[[Range, Range], Range | None]] = {
    "arith.addi": _of_ends(lambda one, other: one + other),
    "arith.subi": _of_ends(lambda one, other: one - other),
    "arith.muli": _of_ends(lambda one, other: one * other),
    "arith.minsi": _of_ends(min),
    "arith.maxsi": _of_ends(max),
    "arith.andi": lambda one, other: TRUE if one == other == TRUE else None,
    "arith.divsi": _quotient,
    "arith.remsi": _remainder,
}


def _bits(text: str) -> int | None:
    """Return the bits of the integers of a result; None if it has no integers."""
    match = _TYPE.search(text.partition(" loc(")[0].strip())
    return int(match[1]) if match else None


def _outside(found: Range, bits: int) -> int | None:
    """Return the value of a range that a signed integer does not hold, or None."""
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return found[1] if found[1] > high else found[0] if found[0] < low else None
