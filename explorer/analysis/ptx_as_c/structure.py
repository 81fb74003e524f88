"""The order of basic blocks as statements of C: loops, `if`, and `goto` where neither fits.

The blocks stay in the order of the text. A structure replaces jumps of exactly equal effect, so that an
unknown shape only costs a `goto`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from explorer.analysis.graphs.blocks import Block, Function

#: Deeper nesting is written with `goto`.
_MOST_NESTED = 24


@dataclass(frozen=True)
class Piece:
    """A part of the result: the body of a block, a line of structure, or a label.

    `kind`: "block" (its number), "open" and "close" (a brace), "jump", "label" (of a block).
    `condition` is a predicate of PTX, perhaps after "!"; "" if there is none.
    """

    kind: str
    block: int
    words: str = ""
    condition: str = ""


@dataclass(frozen=True)
class _Around:
    """The context of a range of blocks: the loop around it, and the block that follows it."""

    follow: int | None
    header: int | None = None
    after: int | None = None
    #: Whether `continue` goes to the header. In `do … while` it would go to the condition.
    is_endless: bool = False
    depth: int = 0


class Structure:
    """The structure of a function."""

    def __init__(self, function: Function, label_of: Callable[[int], str]) -> None:
        self._blocks = function.blocks
        self._ways = [function.ways_out(index) for index in range(len(function.blocks))]
        self._label_of = label_of
        self._before: list[set[int]] = [set() for _ in function.blocks]
        for tail, ways in enumerate(self._ways):
            for head, _ in ways:
                self._before[head].add(tail)
        self._last_tail = {
            head: max(tails)
            for head, before in enumerate(self._before)
            if (tails := [t for t in before if t >= head])
        }
        self._pieces: list[Piece] = []
        self._labels: set[int] = set()

    def pieces(self) -> list[Piece]:
        """Return the parts in order; a label only where a `goto` needs it."""
        self._range(0, len(self._blocks), _Around(None))
        return [each for each in self._pieces if each.kind != "label" or each.block in self._labels]

    def _add(self, kind: str, block: int, words: str = "", condition: str = "") -> None:
        self._pieces.append(Piece(kind, block, words, condition))

    def _range(self, first: int, end: int, around: _Around, is_in_loop: bool = False) -> None:
        index = first
        while index < end:
            tail = self._last_tail.get(index)
            entered = is_in_loop and index == first
            if tail is not None and tail < end and not entered and self._is_loop(index, tail, around):
                self._loop(index, tail, around)
                index = tail + 1
                continue
            if not entered:
                self._add("label", index)
            self._add("block", index)
            index = self._exit(index, end, around)

    def _is_loop(self, header: int, tail: int, around: _Around) -> bool:
        """Return whether blocks from the header to the tail are a loop that only its header enters."""
        if around.depth >= _MOST_NESTED:
            return False
        inside = range(header, tail + 1)
        if any(before not in inside for block in inside[1:] for before in self._before[block]):
            return False
        return any(target == header for target, _ in self._ways[tail])

    def _loop(self, header: int, tail: int, around: _Around) -> None:
        block = self._blocks[tail]
        condition = next((jump.condition for jump in block.jumps if jump.condition), "")
        is_endless = not (condition and len(block.jumps) == 1 and block.otherwise is not None)
        self._add("label", header)
        self._add("open", header, "for (;;) {" if is_endless else "do {")
        within = _Around(header if is_endless else tail, header, tail + 1, is_endless, around.depth + 1)
        if is_endless:
            self._range(header, tail + 1, within, is_in_loop=True)
            self._add("close", tail, "}")
            return
        self._range_to_condition(header, tail, within)
        self._add("close", tail, "} while ({});", condition)

    def _range_to_condition(self, header: int, tail: int, within: _Around) -> None:
        if header < tail:
            self._range(header, tail, within, is_in_loop=True)
            self._add("label", tail)
        self._add("block", tail)

    def _exit(self, index: int, end: int, around: _Around) -> int:
        """Write the end of a block; return the block to continue with."""
        block = self._blocks[index]
        ways = self._ways[index]
        if not block.jumps:
            if block.otherwise is None or block.otherwise:  # It may leave the function.
                leaves = _returns(block)
                is_last = index + 1 == len(self._blocks) and around.depth == 0
                if not (is_last and not block.otherwise):
                    self._add("jump", index, f"{leaves};", _opposite(block.otherwise or ""))
            return index + 1
        if len(block.jumps) > 1 or len(ways) < len(block.jumps) + (block.otherwise is not None):
            self._table(index)
            return index + 1
        target, condition = ways[0]
        if not condition or block.otherwise is None:
            self._jump(index, target, "", around, is_last=index + 1 == end)
            return index + 1
        if index + 1 < target <= end and around.depth < _MOST_NESTED:
            return self._branch(index, target, end, condition, around)
        self._jump(index, target, condition, around)
        return index + 1

    def _branch(self, index: int, target: int, end: int, condition: str, around: _Around) -> int:
        if not self._is_entered_only(index + 1, target, index) or target == around.after:
            self._jump(index, target, condition, around)
            return index + 1
        inner = _Around(target, around.header, around.after, around.is_endless, around.depth + 1)
        last = self._blocks[target - 1]
        join = (
            self._ways[target - 1][0][0]
            if last.jumps and last.otherwise is None and self._ways[target - 1]
            else 0
        )
        has_else = (
            len(last.jumps) == 1 and not last.jumps[0].condition and target < join <= end
        ) and self._is_entered_only(target, join, index)
        self._add("open", index, "if ({}) {", _opposite(condition))
        if not has_else:
            self._range(index + 1, target, inner)
            self._add("close", index, "}")
            return target
        inner = _Around(join, around.header, around.after, around.is_endless, around.depth + 1)
        self._range(index + 1, target, inner)
        self._add("close", index, "} else {")
        self._add("open", index)
        self._range(target, join, inner)
        self._add("close", index, "}")
        return join

    def _is_entered_only(self, first: int, end: int, by: int) -> bool:
        """Return whether nothing but the block `by` jumps into a range from outside."""
        inside = range(first, end)
        return all(before in inside or before == by for block in inside for before in self._before[block])

    def _jump(self, index: int, target: int, condition: str, around: _Around, is_last: bool = False) -> None:
        if is_last and target == around.follow:
            return
        if target == around.after:
            words = "break;"
        elif target == around.header and around.is_endless:
            words = "continue;"
        else:
            words = self._goto(target)
        self._add("jump", index, words, condition)

    def _table(self, index: int) -> None:
        block = self._blocks[index]
        for place, (target, condition) in enumerate(self._ways[index][: len(block.jumps)]):
            self._add("jump", index, self._goto(target), f"{condition}=={place}")

    def _goto(self, target: int) -> str:
        self._labels.add(target)
        return f"goto {self._label_of(target)};"


def _returns(block: Block) -> str:
    name = (
        block.instructions[-1].text.split("@")[-1].split()[-1].split(".")[0] if block.instructions else "ret"
    )
    return "__trap()" if name == "trap" else "return"


def _opposite(condition: str) -> str:
    if not condition:
        return ""
    return condition[1:] if condition.startswith("!") else f"!{condition}"
