"""The loops of a control flow graph, by its dominators.

A back edge leads to a block that dominates the block that it comes from. Its loop is all blocks that can
reach it without passing the dominator. Unreachable blocks have no dominator and are in no loop.

Source: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001); nesting as in
LLVM's LoopInfo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Loop:
    """A loop: `header` is the block that every iteration passes; `parent` the index of the loop around it."""

    header: int
    back_edges: list[int] = field(default_factory=list)
    parent: int | None = None
    depth: int = 1


@dataclass
class LoopNest:
    """The loops from the outermost inwards, and the index of each block's innermost loop."""

    loops: list[Loop]
    innermost: list[int | None]

    def depth(self, block: int) -> int:
        """Return the number of loops around a block."""
        loop = self.innermost[block]
        return 0 if loop is None else self.loops[loop].depth

    def is_back_edge(self, tail: int, head: int) -> bool:
        """Return whether an edge closes a loop."""
        loop = self.innermost[head]
        return loop is not None and self.loops[loop].header == head and tail in self.loops[loop].back_edges


def immediate_dominators(successors: Sequence[Sequence[int]]) -> list[int | None]:
    """Return the nearest dominator of each block except itself; block 0, the entry, is its own dominator.

    None: the block cannot be reached.
    """
    order = _reverse_postorder(successors)
    place = {block: index for index, block in enumerate(order)}
    predecessors = _predecessors(successors, place)
    dominators: list[int | None] = [None] * len(successors)
    if order:
        dominators[order[0]] = order[0]
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            found: int | None = None
            for predecessor in predecessors[block]:
                if dominators[predecessor] is not None:
                    found = predecessor if found is None else _meet(found, predecessor, dominators, place)
            if found != dominators[block]:
                dominators[block] = found
                changed = True
    return dominators


def find_loops(successors: Sequence[Sequence[int]]) -> LoopNest:
    """Find the natural loops; loops with one header are one loop."""
    dominators = immediate_dominators(successors)
    order = _reverse_postorder(successors)
    place = {block: index for index, block in enumerate(order)}
    predecessors = _predecessors(successors, place)
    dominates = _Dominance(dominators, order)

    loops: list[Loop] = []
    innermost: list[int | None] = [None] * len(successors)
    outer: list[int] = []  # for each loop, a loop nearer to the outermost loop around it, or itself

    def outermost(loop: int) -> int:
        while outer[loop] != loop:
            outer[loop] = outer[outer[loop]]
            loop = outer[loop]
        return loop

    # Inner headers come later in this order, so that inner loops are found first.
    for header in reversed(order):
        back_edges = [tail for tail in predecessors[header] if dominates(header, tail)]
        if not back_edges:
            continue
        index = len(loops)
        loops.append(Loop(header, back_edges))
        outer.append(index)
        waiting = list(back_edges)
        while waiting:
            block = waiting.pop()
            inside = innermost[block]
            if inside is None:
                innermost[block] = index
                if block != header:
                    waiting.extend(predecessors[block])
                continue
            inner = outermost(inside)
            if inner != index:
                loops[inner].parent = index
                outer[inner] = index
                waiting.extend(predecessors[loops[inner].header])
        innermost[header] = index
    return _outermost_first(loops, innermost)


def _outermost_first(loops: list[Loop], innermost: list[int | None]) -> LoopNest:
    last = len(loops) - 1
    ordered = loops[::-1]
    for loop in ordered:
        if loop.parent is not None:
            loop.parent = last - loop.parent
            loop.depth = ordered[loop.parent].depth + 1
    return LoopNest(ordered, [None if loop is None else last - loop for loop in innermost])


class _Dominance:
    """Answers whether a block dominates another, by the order of a walk over the dominator tree."""

    def __init__(self, dominators: list[int | None], order: list[int]) -> None:
        children: dict[int, list[int]] = {}
        for block in order[1:]:
            parent = dominators[block]
            if parent is not None:
                children.setdefault(parent, []).append(block)
        self._entered = [0] * len(dominators)
        self._left = [-1] * len(dominators)
        clock = 0
        stack = [(order[0], False)] if order else []
        while stack:
            block, is_done = stack.pop()
            clock += 1
            if is_done:
                self._left[block] = clock
                continue
            self._entered[block] = clock
            stack.append((block, True))
            stack.extend((child, False) for child in children.get(block, ()))

    def __call__(self, above: int, below: int) -> bool:
        return self._entered[above] <= self._entered[below] and 0 <= self._left[below] <= self._left[above]


def _meet(one: int, other: int, dominators: list[int | None], place: dict[int, int]) -> int:
    while one != other:
        if place[one] < place[other]:
            one, other = other, one
        above = dominators[one]
        assert above is not None
        one = above
    return one


def _predecessors(successors: Sequence[Sequence[int]], reachable: dict[int, int]) -> list[list[int]]:
    predecessors: list[list[int]] = [[] for _ in successors]
    for block in reachable:
        for successor in successors[block]:
            predecessors[successor].append(block)
    return predecessors


def _reverse_postorder(successors: Sequence[Sequence[int]]) -> list[int]:
    """Return the blocks that can be reached from block 0."""
    if not successors:
        return []
    seen = {0}
    order: list[int] = []
    stack = [(0, iter(successors[0]))]
    while stack:
        block, rest = stack[-1]
        following = next((each for each in rest if each not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(successors[following])))
    return order[::-1]
