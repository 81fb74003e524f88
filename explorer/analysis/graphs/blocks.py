"""Basic blocks, from the labels and instructions that the readers of the languages yield.

A reader yields, for each function, labels and instructions in the order of the text; an instruction has its
successors. The result is functions of blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Jump:
    """A branch to a label; `condition` is when it is taken, "" if always."""

    target: str
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a block: branches, and the condition under which the next block follows.

    `otherwise` is None if the next block never follows.
    """

    jumps: tuple[Jump, ...] = ()
    otherwise: str | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its first line in the text, its text, and its exit if it ends its block.

    `calls` names the function that it calls, or a block of another function.
    """

    line: int
    text: str
    exit: Exit | None = None
    calls: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """The target of a branch."""

    line: int
    name: str


#: A part of a text: the name of its function, its first line, and its labels and instructions.
Part: TypeAlias = tuple[str, int, list[Label | Instruction]]


@dataclass
class Block:
    """Instructions without branches between them. `labels` are the names of the block."""

    labels: list[str] = field(default_factory=list)
    first_line: int = 0
    last_line: int = 0
    instructions: list[Instruction] = field(default_factory=list)
    jumps: tuple[Jump, ...] = ()
    otherwise: str | None = ""


@dataclass
class Function:
    """A function, its blocks in the order of the text, the entry first."""

    name: str
    first_line: int
    last_line: int
    blocks: list[Block]

    def successors(self) -> list[list[int]]:
        """Return the successors of each block, without duplicates."""
        return [
            list(dict.fromkeys(target for target, _ in self.ways_out(index)))
            for index in range(len(self.blocks))
        ]

    def ways_out(self, index: int) -> list[tuple[int, str]]:
        """Return the successors of a block with their conditions, without unknown targets."""
        block = self.blocks[index]
        places = self._places
        ways = [(places[jump.target], jump.condition) for jump in block.jumps if jump.target in places]
        if block.otherwise is not None and index + 1 < len(self.blocks):
            ways.append((index + 1, block.otherwise))
        return ways

    @cached_property
    def _places(self) -> dict[str, int]:
        return {label: index for index, block in enumerate(self.blocks) for label in block.labels}


def cut_functions(parts: Iterable[Part]) -> list[Function]:
    """Cut parts into blocks. Those without instructions are left out."""
    functions = (cut_into_blocks(*part) for part in parts)
    return [function for function in functions if function.blocks]


def cut_into_blocks(name: str, first_line: int, items: Iterable[Label | Instruction]) -> Function:
    """Cut a function at its labels and after each exit.

    Blocks without instructions are left out; the next block gets their labels.
    """
    blocks: list[Block] = []
    current = Block()
    last_line = first_line
    for item in items:
        last_line = max(last_line, item.line)
        if isinstance(item, Label) and current.instructions:
            blocks.append(current)
            current = Block()
        if not current.instructions and not current.labels:
            current.first_line = item.line
        if isinstance(item, Label):
            current.labels.append(item.name)
            continue
        current.instructions.append(item)
        current.last_line = item.line
        if item.exit is not None:
            current.jumps, current.otherwise = item.exit.jumps, item.exit.otherwise
            blocks.append(current)
            current = Block()
    if current.instructions:
        blocks.append(current)
    return Function(name, first_line, last_line, blocks)


def opposite(condition: str) -> str:
    return condition[1:] if condition.startswith("!") else f"!{condition}"
