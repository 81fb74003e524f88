"""The arguments of a kernel that an operation of a module depends on.

In: the functions of TTIR or TTGIR, and lines. Out: the names of the arguments that decide what the compiler
knows of the addresses and masks of the accesses in these lines. A loaded value does not depend on the place
that it is loaded from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from explorer.analysis.mlir.operations import Function, Operation
from explorer.analysis.reached import reached

#: The operations whose results are loaded from memory.
LOADS = ("tt.load", "tt.descriptor_load", "ttg.local_load", "tt.atomic_rmw", "tt.atomic_cas")
#: The place of the mask among the operands. The first operand is the pointer.
_MASKS = {"tt.load": 1, "tt.store": 2, "tt.atomic_rmw": 2}
#: The sizes of a mask before a splat or a broadcast.
_MASK = re.compile(r" : (?:tensor<)?((?:\d+x)*)i1(?:, #[^>]*)?>* -> ")


def arguments_behind(functions: Iterable[Function], dimensions: Mapping[int, int | None]) -> set[str]:
    """Return the names of the arguments that the operations in lines depend on.

    `dimensions` has for each line the dimension along which an access moves elements at once, if there is
    one. A part of a mask that has one value along it, such as the rows of a tile, does not limit the access.
    """
    found: set[str] = set()
    for function in functions:
        sources = dict(_sources(function))
        arguments = function.operation.regions[0].blocks[0].arguments
        for each in function.operations:
            if each.line not in dimensions:
                continue
            operands: Sequence[str] = each.operands
            behind: set[str] = set()
            if place := _MASKS.get(each.name):
                equal = set(_equal_along(function, dimensions[each.line]))
                varying = {value: steps for value, steps in sources.items() if value not in equal}
                behind = reached(operands[place : place + 1], varying)
                operands = operands[:1]
            behind |= reached(operands, sources)
            found.update(each.removeprefix("%") for each in arguments if each in behind)
    return found


def _equal_along(function: Function, dimension: int | None) -> Iterator[str]:
    """Yield the masks that have one value along a dimension."""
    for each in function.operations:
        if each.name in ("tt.splat", "tt.broadcast") and (match := _MASK.search(each.text)):
            sizes = match[1].split("x")[:-1]
            if not sizes or (dimension is not None and sizes[dimension : dimension + 1] == ["1"]):
                yield from each.results


def _sources(function: Function) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each value with the values that it is computed from."""
    for operation in function.operations:
        if operation.name == "scf.for":
            yield from _of_loop(operation)
        elif operation is not function.operation and operation.name not in LOADS:
            inner = (each for region in operation.regions for each in region.operations)
            operands = (*operation.operands, *(value for each in inner for value in each.operands))
            for value in (*operation.results, *_block_arguments(operation)):
                yield value, operands


def _of_loop(loop: Operation) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the variables and the results of a loop. What they are multiples of is not decided by its end."""
    body = loop.regions[0].blocks[0]
    variable, *carried = body.arguments
    yield variable, (loop.operands[0], loop.operands[2])
    yielded = body.operations[-1].operands if body.operations else ()
    for argument, result, initial, value in zip(carried, loop.results, loop.initial, yielded, strict=False):
        yield argument, (initial, value)
        yield result, (initial, value)


def _block_arguments(operation: Operation) -> Iterator[str]:
    for region in operation.regions:
        for block in region.blocks:
            yield from block.arguments
