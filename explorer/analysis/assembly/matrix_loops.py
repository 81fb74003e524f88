"""The instructions that each turn of a loop with matrix instructions runs, by purpose.

In: SASS or AMDGCN assembly. Out: the lines of the instructions of each such loop. Instructions that only
some turns run, such as the end of a tile in a persistent kernel, are left out. So are loops with inner loops
that do more than wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from explorer.analysis.assembly.instruction_mix import WAITING, Kind, Purpose, purpose_reader
from explorer.analysis.graphs.control_flow import read_functions
from explorer.analysis.graphs.loops import LoopNest, find_loops, immediate_dominators


@dataclass(frozen=True)
class MatrixLoop:
    """The line and the purpose of each instruction that every turn of a loop runs."""

    instructions: tuple[tuple[int, Purpose], ...]

    def lines(self, *kinds: Kind) -> list[int]:
        """Return the lines of the instructions of some kinds."""
        return [line for line, purpose in self.instructions if purpose.kind in kinds]


def matrix_loops(text: str, language: str) -> Iterator[MatrixLoop]:
    """Yield the loops with matrix instructions.

    Raises:
        NothingToDraw: there is no function in the text.
    """
    purpose = purpose_reader(language)
    for function in read_functions(text, language):
        successors = function.successors()
        nest = find_loops(successors)
        purposes = [
            [(each.line, purpose(each.text)) for each in block.instructions] for block in function.blocks
        ]
        with_work = {
            inside
            for inside, block in zip(nest.innermost, purposes, strict=True)
            if inside is not None and not {each.kind for _, each in block} <= WAITING
        }
        around = {each for loop in with_work for each in _ancestors(nest, loop)}
        dominators = immediate_dominators(successors)
        for index in sorted(with_work - around):
            blocks = sorted(_in_each_turn(nest, index, dominators))
            found = MatrixLoop(tuple(each for block in blocks for each in purposes[block]))
            if found.lines("tensor"):
                yield found


def _ancestors(nest: LoopNest, loop: int) -> Iterator[int]:
    """Yield the loops around a loop."""
    parent = nest.loops[loop].parent
    while parent is not None:
        yield parent
        parent = nest.loops[parent].parent


def _in_each_turn(nest: LoopNest, index: int, dominators: Sequence[int | None]) -> set[int]:
    """Return the blocks that each turn of a loop runs: the dominators of all its back edges."""
    loop = nest.loops[index]
    always_before = []
    for block in loop.back_edges:
        found, dominator = {loop.header}, block
        while dominator != loop.header:
            found.add(dominator)
            next_dominator = dominators[dominator]
            assert next_dominator is not None
            dominator = next_dominator
        always_before.append(found)
    return set.intersection(*always_before)
