"""Facts of a module: sizes of tensors, operations in fp64, atomic operations, variables."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from explorer.analysis.layouts.global_access import bytes_of_element
from explorer.analysis.mlir.operations import Function

_SHAPE = re.compile(r"\btensor<((?:\d+x)+)")
_BUFFER = re.compile(
    r"ttg\.local_alloc\b[^\n]*: \(\) -> !ttg\.memdesc<(?P<shape>(?:\d+x)+)(?P<element>[^,>]+),"
)
_OPERATION = re.compile(r"^\s*(?:%\S+ = )?((?:arith|math|tt)\.\w+)\b.*(?:\b|x)f64\b")
_FP64_POINTER = re.compile(r"!tt\.ptr<f64>|tensordesc<[^>]*f64")
_ATOMIC = re.compile(r"(?:%\S+ = )?tt\.atomic_(?:rmw (?P<name>\w+),|cas) \w+, (?P<scope>\w+),")
_ELEMENT = re.compile(r"(?:tensor<[\dx]+x)?(\w+)")
#: The name of a variable, which the compiler makes unique.
_VARIABLE = re.compile(r"%([A-Za-z_]\w*?)(?:_\d+)?(?:#\d+)?(?:@\d+)?")
#: The name that the compiler gives to a value that a loop carries.
_CARRIED = re.compile(r"arg\d+")


def tensor_sizes(text: str) -> set[int]:
    """Return the sizes of all dimensions of tensors."""
    return {int(size) for shape in _SHAPE.findall(text) for size in shape.split("x") if size}


def buffer_sizes(text: str) -> list[tuple[set[int], int]]:
    """Return the sizes and the bytes of each buffer of shared memory of the loops of TTGIR.

    Buffers with an initial value live shortly, and share their memory: they are left out.
    """
    found = [
        ([int(size) for size in match["shape"].split("x") if size], match["element"])
        for match in _BUFFER.finditer(text)
    ]
    return [(set(sizes), math.prod(sizes) * bytes_of_element(element)) for sizes, element in found]


def has_fp64_pointers(text: str) -> bool:
    """Return whether an argument points to values of 64 bits."""
    return _FP64_POINTER.search(text) is not None


def operations_in_fp64(text: str) -> list[tuple[int, str]]:
    """Return the line and the name of each operation with values of 64 bits, except for constants."""
    return [
        (number, match[1])
        for number, line in enumerate(text.split("\n"), 1)
        if (match := _OPERATION.match(line)) and match[1] != "arith.constant"
    ]


class AtomicOperation(NamedTuple):
    """An atomic operation in a line of TTGIR. `name` is "fadd" or "cas", for example, `scope` "gpu"."""

    line: int
    name: str
    element: str
    scope: str


def atomic_operations(functions: Iterable[Function]) -> Iterator[AtomicOperation]:
    """Yield the atomic operations of a module."""
    for function in functions:
        for each in function.operations:
            if found := _ATOMIC.match(each.text.lstrip()):
                element = _ELEMENT.match(each.text.partition(" loc(")[0].rpartition(" -> ")[2])
                name = found["name"] or "cas"
                yield AtomicOperation(each.line, name, element[1] if element else "", found["scope"])


def variable_of(value: str) -> str:
    """Return the variable of the source that a value is named after; "" if it has another name."""
    match = _VARIABLE.fullmatch(value)
    return match[1] if match and not _CARRIED.fullmatch(match[1]) else ""
