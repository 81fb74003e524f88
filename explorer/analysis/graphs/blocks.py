"""Basic blocks: what the readers of the languages tell, cut where control may come in or go away.

A reader yields, for each function, labels and instructions in the order of the text; an instruction says
where it may go. Out come functions of blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Jump:
    """A way out of a block, to a label; `condition` is when it is taken, "" always."""

    target: str
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Exit:
    """That an instruction ends its block: jumps, and the condition under which the next one follows.

    `otherwise` is None where the next one never follows.
    """

    jumps: tuple[Jump, ...] = ()
    otherwise: str | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its first line in the text, what it says, and how it ends its block, if it does.

    `calls` names the function, or the block of another one, that it calls.
    """

    line: int
    text: str
    exit: Exit | None = None
    calls: str = ""


@dataclass(frozen=True, slots=True)
class Label:
    """A place that can be jumped to."""

    line: int
    name: str


@dataclass
class Block:
    """Instructions that run one after another. `labels` are its names; `jumps` where it may go."""

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
        """The blocks that each block may go to, once each."""
        return [
            list(dict.fromkeys(target for target, _ in self.ways_out(index)))
            for index in range(len(self.blocks))
        ]

    def ways_out(self, index: int) -> list[tuple[int, str]]:
        """The blocks that a block may go to, each with the condition. Unknown targets are left out."""
        block = self.blocks[index]
        places = self._places
        ways = [(places[jump.target], jump.condition) for jump in block.jumps if jump.target in places]
        if block.otherwise is not None and index + 1 < len(self.blocks):
            ways.append((index + 1, block.otherwise))
        return ways

    @cached_property
    def _places(self) -> dict[str, int]:
        return {label: index for index, block in enumerate(self.blocks) for label in block.labels}


def cut_into_blocks(name: str, first_line: int, items: Iterable[Label | Instruction]) -> Function:
    """Cut a function at its labels and behind what ends a block. Blocks without instructions are left out,
    and their labels are those of the next one.
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
    """The condition under which another one does not hold."""
    return condition[1:] if condition.startswith("!") else f"!{condition}"
