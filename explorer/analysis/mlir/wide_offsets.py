"""The operations of a loop that compute the offsets of its loads in 64 bits, from the functions of TTGIR."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from explorer.analysis.mlir.index_ranges import value_ranges
from explorer.analysis.mlir.operations import Function, Operation
from explorer.analysis.reached import reached

_LOADS = ("tt.load", "ttg.async_copy_global_to_local")
_ARITHMETIC = re.compile(r"arith\.(?:muli|addi|extsi) .*tensor<(?:\d+x)+i64, ")
_WIDE = re.compile(r"(?: to |: )(?:i64|tensor<(?:\d+x)+i64\b.*)$")
_MOST = 1 << 31


def wide_offsets(functions: Iterable[Function]) -> list[int]:
    """Return the lines of the operations."""
    return sorted({each.line for function in functions for each in _wide_offsets(function)})


def narrow_extensions(
    functions: Iterable[Function], arguments: Mapping[str, int], grid: Sequence[int]
) -> list[int]:
    """Return the lines that extend the numbers of these operations to 64 bits, if 32 bits suffice.

    `arguments` are the values of the integer arguments in the launch. There are none if a number of 64 bits
    is larger, or not known. The start of a block stays in 64 bits, if elements of blocks are extended, too.
    """
    found: list[Operation] = []
    for function in functions:
        made = {value: each for each in function.operations for value in each.results}
        sources = {value: each.operands for value, each in made.items() if not each.regions}
        behind = reached((value for each in _wide_offsets(function) for value in each.results), sources)
        wide = [
            value for value in behind & made.keys() if _WIDE.search(made[value].text.partition(" loc(")[0])
        ]
        if not wide:
            continue
        ranges = value_ranges(function, arguments, grid)
        if not all(value in ranges and max(map(abs, ranges[value])) < _MOST for value in wide):
            return []
        found += (made[value] for value in wide if made[value].name == "arith.extsi")
    of_elements = [each for each in found if "tensor<" in each.text]
    return sorted({each.line for each in of_elements or found})


def _wide_offsets(function: Function) -> Iterator[Operation]:
    made = {value: each for each in function.operations for value in each.results}
    sources = {value: each.operands for value, each in made.items()}
    pointers: dict[Operation, list[str]] = {}
    for load in function.operations:
        if load.name in _LOADS and load.parent is not None and load.parent.name == "scf.for":
            pointers.setdefault(load.parent, []).extend(load.operands[:1])
    for loop, values in pointers.items():
        before = {made[value] for value in reached(values, sources) & made.keys()}
        inside = (each for each in before if loop.line < each.line < loop.end_line)
        yield from (each for each in inside if _ARITHMETIC.search(each.text))
