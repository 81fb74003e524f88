"""The operations of a loop that compute the offsets of its loads in 64 bits, from the functions of TTGIR."""

from __future__ import annotations

import re
from collections.abc import Iterable

from explorer.analysis.mlir.operations import Function, Operation
from explorer.analysis.reached import reached

_LOADS = ("tt.load", "ttg.async_copy_global_to_local")
_ARITHMETIC = re.compile(r"arith\.(?:muli|addi|extsi) .*tensor<(?:\d+x)+i64, ")


def wide_offsets(functions: Iterable[Function]) -> list[int]:
    """Return the lines of the operations."""
    found: set[int] = set()
    for function in functions:
        made = {value: each for each in function.operations for value in each.results}
        sources = {value: each.operands for value, each in made.items()}
        pointers: dict[Operation, list[str]] = {}
        for load in function.operations:
            if load.name in _LOADS and load.parent is not None and load.parent.name == "scf.for":
                pointers.setdefault(load.parent, []).extend(load.operands[:1])
        for loop, values in pointers.items():
            before = {made[value] for value in reached(values, sources) & made.keys()}
            inside = (each for each in before if loop.line < each.line < loop.end_line)
            found.update(each.line for each in inside if _ARITHMETIC.search(each.text))
    return sorted(found)
