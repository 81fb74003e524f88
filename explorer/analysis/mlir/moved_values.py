"""The values that a kernel loads and stores again, element by element.

In: the functions of TTIR or TTGIR. Out: the lines of the loads and the stores of the same value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from explorer.analysis.mlir.operations import Function
from explorer.analysis.reached import reached

#: The operations that keep the elements of a value apart.
_BY_ELEMENT = ("arith.", "math.", "tt.fp_to_fp", "tt.reshape", "tt.trans", "ttg.convert_layout")


def moved_values(functions: Iterable[Function]) -> Iterator[tuple[int, int]]:
    """Yield the line of each load, with the line of a store of its elements.

    Gathers and scatters, whose addresses are loaded, are left out.
    """
    for function in functions:
        loads = {
            value: each for each in function.operations if each.name == "tt.load" for value in each.results
        }
        steps = {value: each for each in function.operations for value in each.results if value not in loads}
        addresses = {value: each.operands for value, each in steps.items()}
        sources = {value: each.operands for value, each in steps.items() if each.name.startswith(_BY_ELEMENT)}
        for store in (each for each in function.operations if each.name == "tt.store"):
            for load in (loads[each] for each in reached(store.operands[1:2], sources) if each in loads):
                pointers = *load.operands[:1], *store.operands[:1]
                if not reached(pointers, addresses) & loads.keys():
                    yield load.line, store.line
