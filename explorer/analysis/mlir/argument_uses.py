"""The arguments of a kernel that an operation of a module depends on.

In: the functions of TTIR or TTGIR, and lines. Out: the names of the arguments that the operands of the
operations in these lines are computed from. A loaded value does not depend on the place that it is loaded
from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from explorer.analysis.mlir.operations import Function, Operation
from explorer.analysis.reached import reached

#: The operations whose results are loaded from memory.
LOADS = ("tt.load", "tt.descriptor_load", "ttg.local_load", "tt.atomic_rmw", "tt.atomic_cas")


def arguments_behind(functions: Iterable[Function], lines: Collection[int]) -> set[str]:
    """Return the names of the arguments that the operations in lines depend on."""
    found: set[str] = set()
    for function in functions:
        operands = {value for each in function.operations if each.line in lines for value in each.operands}
        if operands:
            behind = reached(operands, dict(_sources(function)))
            arguments = function.operation.regions[0].blocks[0].arguments
            found.update(each.removeprefix("%") for each in arguments if each in behind)
    return found


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
