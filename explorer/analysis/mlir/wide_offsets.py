"""The operations of a loop that compute the offsets of its loads in 64 bits, from the text of TTGIR."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from explorer.analysis.mlir.operations import Operation, read_functions

_LOADS = ("tt.load", "ttg.async_copy_global_to_local")
_ARITHMETIC = re.compile(r"arith\.(?:muli|addi|extsi) .*tensor<(?:\d+x)+i64, ")


def wide_offsets(text: str) -> list[int]:
    """Return the lines of the operations."""
    found: set[int] = set()
    for function in read_functions(text):
        made = {value: each for each in function.operations for value in each.results}
        for load in function.operations:
            loop = load.parent
            if load.name in _LOADS and loop is not None and loop.name == "scf.for":
                before = _before(load.operands[0], loop, made)
                found.update(each.line for each in before if _ARITHMETIC.search(each.text))
    return sorted(found)


def _before(pointer: str, loop: Operation, made: Mapping[str, Operation]) -> Iterator[Operation]:
    """Yield the operations of a loop that a pointer is computed from."""
    waiting, seen = [pointer], {pointer}
    while waiting:
        operation = made.get(waiting.pop())
        if operation is None or not loop.line < operation.line < loop.end_line:
            continue
        yield operation
        waiting += (each for each in operation.operands if each not in seen)
        seen.update(operation.operands)
