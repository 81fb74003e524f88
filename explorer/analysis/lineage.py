"""Where a line of a module comes from, and what becomes of it, from one text to the next.

In: an `Alignment` of the two texts and a line of one of them. Out: its line in the other one. A line that was
rewritten is looked for among the lines that took its place: the one that is most like it, where a value that
keeps the name of the source counts for much.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rapidfuzz.distance import Indel

from explorer.analysis.diff import Alignment, Run

How = Literal["same", "moved", "rewritten"]

#: How much of two lines must be the same for one to be the other, rewritten; and what a common name adds.
_LEAST_SIMILARITY = 0.6
_SAME_NAME = 0.35
#: Lines in the place of a changed one that are looked at, the nearest ones.
_MOST_CANDIDATES = 400
_LOWERED = " llvm."
_NAME = re.compile(r"^\s*%([A-Za-z_$.][\w$.]*?)(?:_\d+)?(?::\d+)? = ")


@dataclass(frozen=True)
class Step:
    """The line (from 0) on the other side, and how it got there."""

    line: int
    how: How


def forward(alignment: Alignment, line: int) -> Step | None:
    """What became of a line of the text before; None where it is gone."""
    moved = {move.before: move.after for move in alignment.moves}
    return _step(alignment, line, moved, is_forward=True)


def backward(alignment: Alignment, line: int) -> Step | None:
    """Where a line of the text after came from; None where it is new."""
    moved = {move.after: move.before for move in alignment.moves}
    return _step(alignment, line, moved, is_forward=False)


def _step(alignment: Alignment, line: int, moved: dict[int, int], *, is_forward: bool) -> Step | None:
    if line in moved:
        return Step(moved[line], "moved")
    for run in alignment.runs:
        mine, other = _sides(run, is_forward)
        if line not in mine:
            continue
        if run.same:
            return Step(other[line - mine.start], "same")
        taken = set(moved.values())
        return _most_alike(alignment, line, [each for each in other if each not in taken], is_forward)
    return None


def _sides(run: Run, is_forward: bool) -> tuple[range, range]:
    return (run.before, run.after) if is_forward else (run.after, run.before)


def _most_alike(alignment: Alignment, line: int, candidates: list[int], is_forward: bool) -> Step | None:
    mine, others = alignment.keys if is_forward else alignment.keys[::-1]
    key = mine[line].strip()
    if not key or key in "{}":
        return None
    name = _name(mine[line])
    best: tuple[float, int] | None = None
    for candidate in candidates[:_MOST_CANDIDATES]:
        if (_LOWERED in others[candidate]) != (_LOWERED in key):
            continue  # one operation has become many instructions, none of which is it
        likeness = Indel.normalized_similarity(key, others[candidate].strip())
        if name and name == _name(others[candidate]):
            likeness += _SAME_NAME
        if likeness >= _LEAST_SIMILARITY and (best is None or likeness > best[0]):
            best = likeness, candidate
    return None if best is None else Step(best[1], "rewritten")


def _name(line: str) -> str:
    """The name of the source that the line's result has; "" where it has none."""
    found = _NAME.match(line)
    return found[1] if found else ""
