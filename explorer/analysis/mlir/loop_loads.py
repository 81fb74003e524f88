"""The work of a turn of a loop for the addresses and masks of its loads.

In: the text of TTGIR. Out: the lines of the operations in loops that compute offsets of loads in 64 bits, and
of the operations that combine masks of two dimensions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from explorer.analysis.mlir.operations import Operation, read_functions

#: Loads, with the place of the mask among the operands.
_LOADS = {"tt.load": 1, "ttg.async_copy_global_to_local": 2}
_WIDE = re.compile(r"tensor<(?:\d+x)+i64, ")


@dataclass(frozen=True)
class LoopLoads:
    """Lines of operations in loops: offsets of loads in 64 bits, and combined masks."""

    wide_offsets: tuple[int, ...]
    combined_masks: tuple[int, ...]


def loop_loads(text: str) -> LoopLoads:
    """Return the operations that the loads in loops depend on."""
    wide: set[int] = set()
    combined: set[int] = set()
    for function in read_functions(text):
        made = {value: each for each in function.operations for value in each.results}
        for load in function.operations:
            if load.name not in _LOADS or load.parent is None or load.parent.name != "scf.for":
                continue
            mask = _LOADS[load.name]
            for each in _before(load.operands[:1], load.parent, made):
                if each.name in ("arith.muli", "arith.addi", "arith.extsi") and _WIDE.search(each.text):
                    wide.add(each.line)
            for each in _before(load.operands[mask : mask + 1], load.parent, made):
                if each.name == "arith.andi" and not any(_is_uniform(value, made) for value in each.operands):
                    combined.add(each.line)
    return LoopLoads(tuple(sorted(wide)), tuple(sorted(combined)))


def _is_uniform(value: str, made: Mapping[str, Operation]) -> bool:
    return value in made and made[value].name == "tt.splat"


def _before(values: Iterable[str], loop: Operation, made: Mapping[str, Operation]) -> Iterator[Operation]:
    """Yield the operations of a loop that values are computed from."""
    waiting, seen = list(values), set(values)
    while waiting:
        operation = made.get(waiting.pop())
        if operation is None or not loop.line < operation.line < loop.end_line:
            continue
        yield operation
        waiting += (each for each in operation.operands if each not in seen)
        seen.update(operation.operands)
