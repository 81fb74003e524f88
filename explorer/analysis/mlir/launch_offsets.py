"""The places of the elements of accesses at the sizes of a launch.

In: the functions of TTIR or TTGIR, the values of the integer arguments, and the grid. Out: the offsets of
each load and store from its tensor, in elements, in the first program and the first turn of each loop. There
are none where memory, a condition or an operation that is not listed here decides an offset, or where a
factor of an index depends on the program or the turn. Integers do not overflow here.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd, prod

from explorer.analysis.layouts.global_access import is_global_access
from explorer.analysis.mlir.operations import Function, Operation

_POINTER_ARGUMENT = re.compile(r"(%[\w$.-]+): !tt\.ptr<")
_CONSTANT = re.compile(r"arith\.constant (?:dense<)?(-?\d{1,19})>? ?:")
_MADE = re.compile(r"tt\.make_range \{end = (\d{1,10}) : i32, start = (\d{1,10}) : i32\}")
_AXIS_OF_GRID = re.compile(r"tt\.get_(?:program_id|num_programs) (x|y|z)\b")
_AXIS = re.compile(r"\{axis = (\d+) : i32\}")
_SHAPE = re.compile(r"tensor<((?:\d+x)+)")
_SAME = ("tt.splat", "ttg.convert_layout", "arith.extsi", "arith.extui", "arith.index_cast", "arith.trunci")
_SUMS = ("arith.addi", "arith.subi", "tt.addptr")
#: Larger numbers, and tensors of more elements together, are left out.
_LARGEST = 1 << 62
_MOST_ELEMENTS = 1 << 21
#: A loop whose carried values depend on each other in a longer chain is left out.
_MOST_ROUNDS = 8


@dataclass(frozen=True)
class Numbers:
    """The numbers of a tensor in row-major order. The shape () is one number, for all elements.

    In other programs and turns, each number differs by a multiple of `step`: by the same as the others, but
    for minima, quotients and the like. `names` are the arguments that decide the distances between the
    numbers, or move them from 0.
    """

    shape: tuple[int, ...]
    values: Sequence[int]
    step: int = 0
    names: frozenset[str] = frozenset()


def launch_offsets(
    functions: Iterable[Function], arguments: Mapping[str, int], grid: Sequence[int]
) -> dict[int, Numbers]:
    """Return the offsets of the accesses to global memory, by their lines."""
    found: dict[int, Numbers] = {}
    for function in functions:
        # The launch has no arguments of other functions.
        if function.operation.text.startswith("tt.func public "):
            known = _Launch(function, arguments, grid).known
            for each in function.operations:
                if is_global_access(each.name) and (offsets := _offsets(each, known)):
                    found[each.line] = offsets
    return found


def _offsets(access: Operation, known: Mapping[str, Numbers]) -> Numbers | None:
    """Return the offsets of the elements of an access from the tensor."""
    first, last = 0, 1
    if ".buffer_" in access.name:
        # The pointer of the buffer comes before the offsets: `%value, %pointer[%offsets]`.
        last = access.text.partition(f"{access.name} ")[2].partition("[")[0].count("%") + 1
        first = last - 2
    found = [known.get(each) for each in access.operands[max(first, 0) : last]]
    if len(found) == 2 and found[0] and found[1]:
        return _combined("tt.addptr", operator.add, found[0], found[1])
    return found[0] if len(found) == 1 else None


class _Launch:
    """The numbers that a function computes in a launch."""

    def __init__(self, function: Function, arguments: Mapping[str, int], grid: Sequence[int]) -> None:
        self._operations = sorted(function.operations, key=lambda each: each.line)
        self._grid = grid
        self._left = _MOST_ELEMENTS
        self._given = {
            f"%{name}": Numbers((), (value,), 0, frozenset({name}))
            for name, value in arguments.items()
            # A constexpr is no argument here, and a value of the kernel can have its name.
            if f"%{name}:" in function.operation.text
        }
        self._given |= {
            name: Numbers((), (0,)) for name in _POINTER_ARGUMENT.findall(function.operation.text)
        }
        #: The steps of the carried values of loops; None: they do not move as a whole.
        self._steps: dict[str, int | None] = {}
        self.known: dict[str, Numbers] = {}
        for _ in range(_MOST_ROUNDS):
            self.known = dict(self._given)
            for each in self._operations:
                self._read(each)
            if not (changed := self._moved_by_turns()):
                return
            self._steps |= changed
        self.known = {}

    def _read(self, operation: Operation) -> None:
        if operation.name == "scf.for":
            variable, *carried = _arguments(operation) or [""]
            low, _, step = [*(self.known.get(each) for each in operation.operands), None, None, None][:3]
            if low and step and not step.step:
                self.known[variable] = replace(low, step=gcd(low.step, step.values[0]))
            for argument, initial in zip(carried, operation.initial, strict=False):
                moved = self._steps.get(argument, 0)
                if moved is not None and (numbers := self.known.get(initial)):
                    self.known[argument] = replace(numbers, step=gcd(numbers.step, moved))
        elif len(operation.results) == 1:
            numbers = self._numbers(operation)
            self._left -= len(numbers.values) if numbers else 0
            if numbers and self._left > 0 and max(map(abs, numbers.values), default=0) < _LARGEST:
                self.known[operation.results[0]] = numbers

    def _moved_by_turns(self) -> dict[str, int | None]:
        """Return the carried values that a turn moves otherwise than it was assumed."""
        changed: dict[str, int | None] = {}
        for each in self._operations:
            if each.name != "scf.for" or not each.regions or not each.regions[0].blocks:
                continue
            operations = each.regions[0].blocks[0].operations
            yielded = operations[-1].operands if operations else ()
            for argument, value in zip(_arguments(each)[1:], yielded, strict=False):
                if before := self.known.get(argument):
                    moved = _difference(before, self.known.get(value))
                    if moved is None or (moved % before.step if before.step else moved):
                        changed[argument] = moved if moved is None else gcd(moved, before.step)
        return changed

    def _numbers(self, operation: Operation) -> Numbers | None:
        """Return the numbers of the result of an operation; None: they are not known."""
        text = operation.text
        if match := _CONSTANT.search(text):
            return Numbers((), (int(match[1]),))
        if match := _MADE.search(text):
            size = min(int(match[1]) - int(match[2]), self._left)
            return Numbers((size,), range(int(match[2]), int(match[2]) + size))
        if match := _AXIS_OF_GRID.search(text):
            axis = "xyz".index(match[1])
            size = self._grid[axis] if axis < len(self._grid) else 1
            if operation.name == "tt.get_num_programs":
                return Numbers((), (size,))
            return Numbers((), (0,), int(size > 1))
        known = [self.known[each] for each in operation.operands if each in self.known]
        if not known or len(known) < len(operation.operands):
            return None
        first, *others = known
        if operation.name in _SAME:
            return first
        if operation.name == "tt.expand_dims" and first.shape and (match := _AXIS.search(text)):
            axis = int(match[1])
            return replace(first, shape=(*first.shape[:axis], 1, *first.shape[axis:]))
        if operation.name == "tt.broadcast":
            shapes = _SHAPE.findall(text) or [""]
            return _broadcast(first, tuple(map(int, shapes[-1].split("x")[:-1])), self._left)
        combine = _COMBINED.get(operation.name)
        return _combined(operation.name, combine, first, others[0]) if combine and len(others) == 1 else None


def _arguments(loop: Operation) -> Sequence[str]:
    """Return the variable of a loop and its carried values."""
    blocks = loop.regions[0].blocks if loop.regions else ()
    return blocks[0].arguments if blocks else ()


def _difference(before: Numbers, after: Numbers | None) -> int | None:
    """Return what numbers move by multiples of; None if some move otherwise than others."""
    if after is None or before.shape != after.shape:
        return None
    moved = {new - old for old, new in zip(before.values, after.values, strict=True)}
    return gcd(moved.pop(), after.step) if len(moved) == 1 else None


def _broadcast(numbers: Numbers, shape: tuple[int, ...], most: int) -> Numbers | None:
    if not numbers.shape or prod(shape) > most or len(shape) != len(numbers.shape):
        return None if numbers.shape else numbers
    if any(before not in (1, after) for before, after in zip(numbers.shape, shape, strict=True)):
        return None
    values = list(numbers.values)
    for axis in reversed(range(len(shape))):
        if numbers.shape[axis] != shape[axis]:
            inner = prod(shape[axis + 1 :])
            rows = (values[start : start + inner] for start in range(0, len(values), inner))
            values = [each for row in rows for each in row * shape[axis]]
    return replace(numbers, shape=shape, values=values)


def _combined(
    name: str, combine: Callable[[int, int], int], first: Numbers, second: Numbers
) -> Numbers | None:
    if name == "arith.muli" and not first.shape:
        first, second = second, first
    is_sum, is_tensor = name in _SUMS, bool(first.shape or second.shape)
    shape = first.shape or second.shape
    if (first.shape and second.shape and first.shape != second.shape) or (
        # The distances between the numbers depend on the program.
        is_tensor and not is_sum and (second.step or not first.shape or (second.shape and first.step))
    ):
        return None
    values = [first.values, second.values]
    if first.shape != second.shape:
        values = [each.values if each.shape else [*each.values] * prod(shape) for each in (first, second)]
    if name.startswith(("arith.div", "arith.rem")) and 0 in second.values:
        return None
    names = first.names | second.names
    if is_sum and is_tensor:
        # A number that is added to all others changes no distance.
        names = frozenset().union(*(each.names for each in (first, second) if each.shape or any(each.values)))
    return Numbers(shape, list(map(combine, *values)), _step(name, first, second), names)


def _step(name: str, first: Numbers, second: Numbers) -> int:
    """Return what other programs and turns change the results by multiples of."""
    if not first.step and not second.step:
        return 0
    if name in _SUMS:
        return gcd(first.step, second.step)
    if name == "arith.muli":
        return gcd(
            first.step * gcd(*second.values), second.step * gcd(*first.values), first.step * second.step
        )
    if name in ("arith.minsi", "arith.maxsi") and not first.shape and not second.shape:
        return gcd(first.step, second.step, first.values[0] - second.values[0])
    if name == "arith.remsi" and not second.step and min(first.values) >= 0:
        return gcd(first.step, *second.values)
    if name == "arith.divsi" and len({*second.values}) == 1 and not second.step:
        quotient, rest = divmod(first.step, abs(second.values[0]))
        return 1 if rest else quotient
    return 1


def _quotient(one: int, other: int) -> int:
    """Return the quotient, rounded towards zero."""
    return one // other if (one < 0) == (other < 0) else -(-one // other)


_COMBINED: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "tt.addptr": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.divsi": _quotient,
    "arith.remsi": lambda one, other: one - other * _quotient(one, other),
}
