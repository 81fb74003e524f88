"""The masks of accesses that are true for all elements at the sizes of a launch.

In: the functions of TTIR, the values of the integer arguments, and the grid. Out: the lines of the loads and
stores whose mask is always true, and of those whose mask may be false.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from explorer.analysis.mlir.index_ranges import TRUE, value_ranges
from explorer.analysis.mlir.operations import Function

#: The place of the mask among the operands.
_MASKS = {"tt.load": 1, "tt.store": 2}


def full_masks(
    functions: Iterable[Function], arguments: Mapping[str, int], grid: Sequence[int]
) -> tuple[set[int], set[int]]:
    """Return the lines of accesses with masks that are always true, and with other masks."""
    full: set[int] = set()
    others: set[int] = set()
    for function in functions:
        ranges = value_ranges(function, arguments, grid)
        for each in function.operations:
            place = _MASKS.get(each.name, 0)
            if place and len(each.operands) > place:
                (full if ranges.get(each.operands[place]) == TRUE else others).add(each.line)
    return full, others
