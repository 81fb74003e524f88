"""The difference between two texts, in which a renamed value or register is no change.

In: the text before and after, and the meaning of the names in them. Out: the aligned spans of both texts, or
a unified diff.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from explorer.analysis.diff.registers import align_machine_code
from explorer.analysis.diff.sequence import Pair, align, split_lines
from explorer.analysis.diff.values import align_values
from explorer.model.languages import Renaming

__all__ = ["Alignment", "Move", "Renaming", "Span", "unified_diff"]


@dataclass(frozen=True)
class Span:
    """Consecutive lines that are either the same on both sides or different. Line numbers start at 1."""

    before_line: int
    before_lines: int
    after_line: int
    after_lines: int
    same: bool

    @classmethod
    def of(cls, before: range, after: range, *, same: bool) -> Span:
        """Return a span of lines whose indices start at 0."""
        return cls(before.start + 1, len(before), after.start + 1, len(after), same)

    @property
    def before(self) -> range:
        """The indices of the lines of the text before, from 0."""
        return range(self.before_line - 1, self.before_line - 1 + self.before_lines)

    @property
    def after(self) -> range:
        """The indices of the lines of the text after, from 0."""
        return range(self.after_line - 1, self.after_line - 1 + self.after_lines)


@dataclass(frozen=True)
class Move:
    """A line that was removed in one place and added in another. Line numbers start at 1."""

    before_line: int
    after_line: int


class Alignment:
    """Two texts, aligned line by line."""

    def __init__(self, before: str, after: str, renaming: Renaming = "values") -> None:
        self._before, self._after = split_lines(before), split_lines(after)
        if self._before == self._after:
            self._pairs, moves = [(index, index) for index in range(len(self._before))], list[Pair]()
        else:
            self._pairs, moves = _ALIGN[renaming](self._before, self._after)
        #: The operations that only moved: lines that are removed in one place and added in another.
        self.moves = [Move(before + 1, after + 1) for before, after in moves]

    @cached_property
    def spans(self) -> list[Span]:
        """The spans of both whole texts, in order: equal lines and different lines."""
        return list(_spans(self._pairs, len(self._before), len(self._after)))


def unified_diff(before: str, after: str, renaming: Renaming = "values", *, context: int = 3) -> str:
    """Return the difference in unified format; "" if there is none.

    Lines of context come from `after`. If no name may differ, `before` has the same lines, and the result is
    a patch that turns `before` into `after`.
    """
    before_lines, after_lines = split_lines(before), split_lines(after)
    hunks = _hunks(Alignment(before, after, renaming).spans, context)
    text = "".join(_write_hunk(hunk, before_lines, after_lines) for hunk in hunks)
    return f"--- before\n+++ after\n{text}" if text else ""


def _align_exactly(before: list[str], after: list[str]) -> tuple[list[Pair], list[Pair]]:
    return align(before, after), []


_ALIGN: dict[Renaming, Callable[[list[str], list[str]], tuple[list[Pair], list[Pair]]]] = {
    "none": _align_exactly,
    "values": align_values,
    "registers": align_machine_code,
}


# --- the unified format -----------------------------------------------------------------------


def _hunks(spans: list[Span], context: int) -> Iterator[list[Span]]:
    """Group changes that have at most twice `context` unchanged lines between them."""
    hunk: list[Span] = []
    for span in spans:
        old, new = span.before, span.after
        if not span.same or (hunk and len(old) <= 2 * context):
            hunk.append(span)
            continue
        if hunk:
            yield [*hunk, Span.of(old[:context], new[:context], same=True)]
        skipped = max(len(old) - context, 0)
        hunk = [Span.of(old[skipped:], new[skipped:], same=True)]
    if hunk and hunk[-1].same:
        last = hunk.pop()
        hunk.append(Span.of(last.before[:context], last.after[:context], same=True))
    if any(not span.same for span in hunk):
        yield hunk


def _spans(pairs: list[Pair], before_count: int, after_count: int) -> Iterator[Span]:
    i = j = 0
    index = 0
    while index < len(pairs) or i < before_count or j < after_count:
        next_i, next_j = pairs[index] if index < len(pairs) else (before_count, after_count)
        if (next_i, next_j) != (i, j):
            yield Span.of(range(i, next_i), range(j, next_j), same=False)
        length = 0
        while index < len(pairs) and pairs[index] == (next_i + length, next_j + length):
            length += 1
            index += 1
        i, j = next_i + length, next_j + length
        if length:
            yield Span.of(range(next_i, i), range(next_j, j), same=True)


def _write_hunk(hunk: list[Span], before: list[str], after: list[str]) -> str:
    old = range(hunk[0].before.start, hunk[-1].before.stop)
    new = range(hunk[0].after.start, hunk[-1].after.stop)
    parts = [f"@@ -{_write_range(old)} +{_write_range(new)} @@\n"]
    for span in hunk:
        if span.same:
            parts.extend(_write_line(" ", after[j]) for j in span.after)
        else:
            parts.extend(_write_line("-", before[i]) for i in span.before)
            parts.extend(_write_line("+", after[j]) for j in span.after)
    return "".join(parts)


def _write_range(lines: range) -> str:
    """`start,length` counted from 1; an empty range names the line before it."""
    return f"{lines.start + 1 if lines else lines.start},{len(lines)}"


def _write_line(mark: str, line: str) -> str:
    return mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
