"""The work of a launch, computed from TTIR: operations and bytes × trip counts × programs.

In: TTIR, the grid and the scalar arguments of a launch. Out: floating point operations by kind and the bytes
of all loads and stores, as if no lane were masked. TTIR is used because every operation occurs once in it:
later stages duplicate the steps of pipelined loops. The bounds of loops must be constants, or follow from
scalar arguments or from the program's place in the grid; in the last case each program is evaluated
separately. Work that depends on data has no answer.

Source: the dialects tt, scf, arith and math as Triton 3.6 and 3.9 print them.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

from explorer.analysis.mlir.operations import Function, Operation, read_functions
from explorer.model.hardware import Target

_TENSOR = re.compile(r"tensor<((?:\d+x)*)(!tt\.ptr<(\w+)>|\w+)(?:, [^<>]*)?>")
_POINTER = re.compile(r": \(?!tt\.ptr<(\w+)>")
_IS_POINTER = re.compile(r"!tt\.(?:ptr|tensordesc)<")
_INTEGER = re.compile(r"arith\.constant (-?\d+|true|false)\b")
_AXIS = re.compile(r"tt\.get_(num_programs|program_id) ([xyz])")
_PRECISION = re.compile(r"inputPrecision = (\w+)")
_BITS = re.compile(r"\d+")
#: Arithmetic as profilers count it: without comparisons, minimum, maximum, rounding and atomic operations.
_ELEMENTWISE = re.compile(
    r"arith\.(?:add|sub|mul|div|rem)f|math\.(?!abs|floor|ceil|round|trunc|copysign)\w+|"
    r"tt\.precise_\w+|tt\.extern_elementwise"
)
#: Computed by the special function units, or by a library with them.
_SPECIAL = re.compile(r"\bmath\.(?!fma)\w+|tt\.precise_sqrt|tt\.extern_elementwise")
_COMBINED_AXIS = re.compile(r"\baxis = (\d+)")
_LOADS = ("tt.load", "tt.descriptor_load", "tt.descriptor_gather", "tt.experimental_descriptor_load")
_STORES = (
    "tt.store", "tt.descriptor_store", "tt.descriptor_scatter", "tt.descriptor_reduce",
    "tt.atomic_rmw", "tt.atomic_cas", "tt.experimental_descriptor_store",
)  # fmt: skip
_UNKNOWN_REGIONS = ("scf.if", "scf.while", "tt.call")
_DOT_KINDS = {"f16": "tensor fp16", "bf16": "tensor bf16", "i8": "tensor int8", "f64": "tensor fp64"}
_KINDS = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64"}
_MOST_TRIPS = 2**40
#: The dimensions of the grid in which programs may differ.
_AXES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (2,), (0, 1), (0, 1, 2))
_MOST_STEPS = 200_000
#: The work of each program is known for grids of at most this size.
_MOST_PROGRAMS = 65_536


@dataclass(frozen=True)
class StaticWork:
    """The work of a whole launch. `reason`: why it is unknown; `is_masked`: the bytes are an upper bound.

    `programs` is the work of each program in the order of the launch, in operations of the matrix units or
    else in bytes; () if all have the same work. `loaded` and `stored` name the arguments that the kernel
    reads and writes; None if they are unknown.
    """

    reason: str = ""
    operations: Mapping[str, float] = field(default_factory=dict)
    requested_bytes: float = 0.0
    is_masked: bool = False
    programs: tuple[float, ...] = field(default=(), repr=False)
    loaded: frozenset[str] | None = None
    stored: frozenset[str] | None = None


def static_work(
    text: str, kernel: str, grid: Sequence[int], scalars: Mapping[str, int], target: Target
) -> StaticWork:
    """Compute the work of a launch of `kernel`; `scalars` are its integer arguments by name."""
    functions = read_functions(text)
    function = next((each for each in functions if each.name == kernel), None)
    if function is None:
        return StaticWork("The compilation has no TTIR of the kernel.")
    if not grid or not all(0 < each < 2**32 for each in grid):
        return StaticWork("The grid of the launch is unknown.")
    return replace(_work(function, (*grid, 1, 1)[:3], scalars, target), **_accessed(function))


def _work(
    function: Function, whole: tuple[int, ...], scalars: Mapping[str, int], target: Target
) -> StaticWork:
    reason = ""
    for axes in _AXES:
        places = [range(whole[axis]) if axis in axes else (None,) for axis in range(3)]
        different = math.prod(map(len, places))
        if different == 1 or different * len(function.operations) <= _MOST_STEPS:
            readers = [_Reader(whole, scalars, place, target) for place in itertools.product(*places)]
            try:
                for reader in readers:
                    reader.read(function)
            except _Unknown as error:
                reason = reason or str(error)
            else:
                return _sum(readers, math.prod(whole) // len(readers), _by_program(readers, whole, axes))
    return StaticWork(reason)


def _by_program(
    readers: Sequence[_Reader], whole: tuple[int, ...], axes: tuple[int, ...]
) -> tuple[float, ...]:
    """Return the work of each program in the order of the launch; () if all have the same work."""
    dots = [sum(count for name, count in each.operations.items() if "tensor" in name) for each in readers]
    work = dots if any(dots) else [each.bytes for each in readers]
    if len(set(work)) < 2 or math.prod(whole) > _MOST_PROGRAMS:
        return ()
    x, y, z = (range(whole[axis]) for axis in range(3))
    strides = [math.prod(whole[other] for other in axes if other > axis) for axis in range(3)]
    return tuple(
        float(work[sum(place[axis] * strides[axis] for axis in axes)])
        for place in ((i, j, k) for k in z for j in y for i in x)
    )


class _Accessed(TypedDict, total=False):
    loaded: frozenset[str]
    stored: frozenset[str]


def _accessed(function: Function) -> _Accessed:
    """Return the arguments that a function reads and writes; {} if a pointer comes from elsewhere.

    A pointer or a descriptor belongs to the argument that it is computed from.
    """
    origins = {value: value for value in function.operation.regions[0].blocks[0].arguments}
    read: set[str] = set()
    written: set[str] = set()
    for operation in _in_order(function.operation):
        name = operation.name
        origin = next((origins[each] for each in operation.operands if each in origins), None)
        if name in _LOADS or name in _STORES:
            if origin is None:
                return {}
            if name in _LOADS or name.startswith("tt.atomic") or name == "tt.descriptor_reduce":
                read.add(origin.removeprefix("%"))
            if name in _STORES:
                written.add(origin.removeprefix("%"))
            continue
        if operation.initial:
            blocks = operation.regions[0].blocks if operation.regions else ()
            carried = blocks[0].arguments[-len(operation.initial) :] if blocks else ()
            for inner, first in zip(carried, operation.initial, strict=False):
                if first in origins:
                    origins[inner] = origins[first]
            for result, first in zip(operation.results, operation.initial, strict=False):
                if first in origins:
                    origins[result] = origins[first]
        elif origin is not None and _IS_POINTER.search(operation.text):
            origins.update(dict.fromkeys(operation.results, origin))
    return {"loaded": frozenset(read), "stored": frozenset(written)}


def _in_order(operation: Operation) -> Iterator[Operation]:
    """Yield the operations inside, each before the operations of its regions."""
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner
                yield from _in_order(inner)


def _sum(readers: Sequence[_Reader], equal: int, programs: tuple[float, ...]) -> StaticWork:
    """Add up different programs, each of which represents `equal` programs."""
    operations: Counter[str] = Counter()
    for reader in readers:
        operations.update(reader.operations)
    return StaticWork(
        "",
        {name: float(count * equal) for name, count in operations.items()},
        float(sum(reader.bytes for reader in readers) * equal),
        any(reader.is_masked for reader in readers),
        programs,
    )


class _Unknown(Exception):
    """The work depends on something unknown."""


class _Reader:
    """Goes through one program with its known values; `place` is its place in the grid, or None."""

    def __init__(
        self,
        grid: tuple[int, ...],
        scalars: Mapping[str, int],
        place: Sequence[int | None],
        target: Target,
    ) -> None:
        self.operations: Counter[str] = Counter()
        self.bytes = 0
        self.is_masked = False
        self._grid = grid
        self._place = place
        self._target = target
        self._values: dict[str, int] = {f"%{name}": value for name, value in scalars.items()}

    def read(self, function: Function) -> None:
        """Count the work of an operation.

        Raises:
            _Unknown: with what it depends on.
        """
        self._region(function.operation, 1)

    def _region(self, operation: Operation, times: int) -> None:
        for region in operation.regions:
            if len(region.blocks) > 1:
                raise _Unknown("Unstructured control flow: the trip counts are known only at run time.")
            for inner in region.blocks[0].operations:
                self._operation(inner, times)

    def _operation(self, operation: Operation, times: int) -> None:
        name = operation.name
        if name == "scf.for":
            repeated = times * self._trips(operation)
            if repeated > _MOST_TRIPS:
                raise _Unknown(f"A loop has more than {_MOST_TRIPS:,} iterations, the limit.")
            self._region(operation, repeated)
        elif name in _UNKNOWN_REGIONS:
            if any(_does_something(inner) for inner in operation.walk() if inner is not operation):
                raise _Unknown(
                    "The work depends on a condition that is known only at run time "
                    f"(line {operation.line} of TTIR: {name})."
                )
        elif name in _LOADS or name in _STORES:
            self._access(operation, times)
        elif name == "tt.dot":
            self._dot(operation, times)
        elif name in ("tt.reduce", "tt.scan"):
            self._combine(operation, times)
        elif _ELEMENTWISE.fullmatch(name):
            self._floats(operation.text, times)
        elif len(operation.results) == 1:
            value = self._evaluate(operation)
            if value is not None:
                self._values[operation.results[0]] = value

    def _trips(self, operation: Operation) -> int:
        bounds = [self._values.get(each) for each in operation.operands[:3]]
        if len(bounds) < 3 or any(each is None for each in bounds) or not bounds[2]:
            raise _Unknown(
                f"The trip count of the loop in line {operation.line} of TTIR is known only at run time."
            )
        start, end, step = (each or 0 for each in bounds)
        return max(0, -((start - end) // step))

    def _access(self, operation: Operation, times: int) -> None:
        tensor = _TENSOR.search(operation.text.rpartition(" : ")[2])
        pointer = _POINTER.search(operation.text)
        if tensor:
            self.bytes += times * _elements(tensor) * element_bytes(tensor[3] or tensor[2])
        elif pointer:
            self.bytes += times * element_bytes(pointer[1])
        least = 1 if operation.name in _LOADS else 2
        self.is_masked |= operation.name in ("tt.load", "tt.store") and len(operation.operands) > least

    def _dot(self, operation: Operation, times: int) -> None:
        shapes = _TENSOR.findall(operation.text.rpartition(" : ")[2])
        if len(shapes) != 3:
            raise _Unknown(f"The matrix product in line {operation.line} of TTIR could not be read.")
        result, depth = math.prod(_shape(shapes[2][0])), (_shape(shapes[0][0]) or [0])[-1]
        self.operations[_dot_kind(shapes[0][1], operation.text, self._target)] += times * 2 * result * depth

    def _combine(self, operation: Operation, times: int) -> None:
        """Count a reduction or scan: n elements along its axis are combined n - 1 times."""
        axis = _COMBINED_AXIS.search(operation.whole_text)
        tensor = _TENSOR.search(operation.whole_text.rpartition(" : ")[2])
        shape = _shape(tensor[1]) if tensor else []
        along = shape[int(axis[1])] if axis and int(axis[1]) < len(shape) else 0
        if tensor is None or not along:
            raise _Unknown(f"The reduction or scan in line {operation.line} of TTIR could not be read.")
        steps = _elements(tensor) // along * (along - 1)
        for inner in _in_order(operation):
            if _ELEMENTWISE.fullmatch(inner.name):
                self._floats(inner.text, times * steps)

    def _floats(self, text: str, times: int) -> None:
        """One operation for each element, of the first type that is named."""
        types = text.rpartition(" : ")[2]
        tensor = _TENSOR.search(types)
        element = tensor[2] if tensor else types.split(" ")[0].strip("(),")
        if element in _KINDS:
            count = 2 if "math.fma" in text else 1
            unit = "special " if _SPECIAL.search(text) else ""
            self.operations[unit + _KINDS[element]] += times * count * (_elements(tensor) if tensor else 1)

    def _evaluate(self, operation: Operation) -> int | None:
        """Return the value of an integer operation if the values of its operands are known."""
        name = operation.name
        if name == "arith.constant":
            found = _INTEGER.search(operation.text)
            return None if found is None else _integer(found[1])
        if axis := _AXIS.search(operation.text):
            return (self._grid if axis[1] == "num_programs" else self._place)["xyz".index(axis[2])]
        compute = _INTEGER_OPERATIONS.get(name)
        operands = [self._values.get(each) for each in operation.operands]
        if compute is None or not operands or any(each is None for each in operands):
            return None
        try:
            value = compute(*(each for each in operands if each is not None))
        except (TypeError, ZeroDivisionError):
            return None
        return value if abs(value) < 2**63 else None


def _truncating(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_INTEGER_OPERATIONS: dict[str, Callable[..., int]] = {
    "arith.addi": lambda left, right: left + right,
    "arith.subi": lambda left, right: left - right,
    "arith.muli": lambda left, right: left * right,
    "arith.divsi": _truncating,
    "arith.divui": _truncating,
    "arith.remsi": lambda left, right: left - right * _truncating(left, right),
    "arith.remui": lambda left, right: left - right * _truncating(left, right),
    "arith.ceildivsi": lambda left, right: -(-left // right),
    "arith.ceildivui": lambda left, right: -(-left // right),
    "arith.floordivsi": lambda left, right: left // right,
    "arith.minsi": min,
    "arith.minui": min,
    "arith.maxsi": max,
    "arith.maxui": max,
    "arith.extsi": lambda value: value,
    "arith.extui": lambda value: value,
    "arith.trunci": lambda value: value,
    "arith.index_cast": lambda value: value,
}


def _does_something(operation: Operation) -> bool:
    name = operation.name
    return (
        name in _LOADS or name in _STORES or name.startswith("tt.dot") or bool(_ELEMENTWISE.fullmatch(name))
    )


def _dot_kind(element: str, text: str, target: Target) -> str:
    if element == "f32":
        # Triton does not print "ieee", the default of the attribute.
        precision = _PRECISION.search(text)
        return target.fp32_product(precision[1] if precision else "ieee")
    return "tensor fp8" if element.startswith("f8") else _DOT_KINDS.get(element, f"tensor {element}")


def _shape(text: str) -> list[int]:
    return [int(each) for each in text.split("x") if each]


def _elements(tensor: re.Match[str]) -> int:
    return math.prod(_shape(tensor[1]))


def element_bytes(element: str) -> int:
    """Bytes of an element of a type by its name, in MLIR or in a signature: "f16", "*fp16"; at least 1."""
    bits = _BITS.search(element)
    return max(1, int(bits[0]) // 8) if bits and len(bits[0]) < 5 else 1


def _integer(text: str) -> int | None:
    if text in ("true", "false"):
        return int(text == "true")
    return int(text) if len(text) < 20 else None
