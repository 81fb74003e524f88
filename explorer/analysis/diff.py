"""What changed between two texts of a module, where a value that was merely renumbered is no change.

In: the text before and after. Out: the numbers of lines added and removed, or a unified diff.

A compiler pass that inserts one operation renumbers every value after it, and one that drops a layout
renames the aliases of the others. So lines are first aligned by what they say without numbers; then, in the
order of the text, each value of the one side must correspond to one and the same value of the other. A
line whose operand became another value is a change, though it looks the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz.distance import Indel

#: Lines `before[i]` and `after[j]` (from 0) that are the same line.
Pair = tuple[int, int]

#: How many lines in a row must be found once on each side to be an anchor, tried in this order.
_ANCHOR_WIDTHS = (1, 8, 64)

#: A gap between anchors of this many comparisons takes a millisecond, so it is not split further.
_FEW_COMPARISONS = 1_000_000

#: … and of this many half a second and 50 MB: what is larger still counts as replaced.
_MAXIMUM_COMPARISONS = 400_000_000

_NUMBER_OF_NAME = re.compile(r"(%[A-Za-z$._-][\w$.-]*?)_\d++(?![\w$.-])")  # %name_12
#: One after the other, as each begins with a sign that is soon found: three times as fast as all in one.
_NUMBERS = (
    re.compile(r"^\d++(?=:)", re.MULTILINE),  # a label of LLVM IR
    re.compile(r"!(?<!\w!)\d++\b"),
    re.compile(r"#(?<!\w#)\d++\b"),
    re.compile(r"%\d++\b"),  # behind #: the second result of %12 is called %12#1
)
#: A line that can be told from others: it names an operation.
_RECOGNISABLE = re.compile(r"^(?!#).*\w\.\w|\bcall\b|\bload\b|\bstore\b")
_VALUE = re.compile(r"((?:%|(?<!\w)[!#](?=\d))[\w$.-]++)(:| =)?+")
_ALIAS = re.compile(r"[#!][A-Za-z_]\w*+(?!\.)")
_ALIAS_DEFINITION = re.compile(r"^([#!][A-Za-z_]\w*+) = ([^\n]*+)$", re.MULTILINE)


def count_changes(before: str, after: str, *, exact: bool = False) -> tuple[int, int]:
    """Count the lines that were added and removed; with `exact`, renumbering is a change too."""
    before_lines, after_lines = _lines(before), _lines(after)
    unchanged = len(_unchanged(before_lines, after_lines, exact))
    return len(after_lines) - unchanged, len(before_lines) - unchanged


def unified_diff(before: str, after: str, *, exact: bool = False, context: int = 3) -> str:
    """Show what changed, in unified format; "" where nothing did.

    Lines of context are those of `after`. With `exact` they are those of both, and the result is a patch
    that turns `before` into `after`.
    """
    before_lines, after_lines = _lines(before), _lines(after)
    pairs = _unchanged(before_lines, after_lines, exact)
    hunks = _hunks(pairs, len(before_lines), len(after_lines), context)
    text = "".join(_write_hunk(hunk, before_lines, after_lines) for hunk in hunks)
    return f"--- before\n+++ after\n{text}" if text else ""


@dataclass(frozen=True)
class Run:
    """Neighbouring lines, as ranges from 0 on, that are the same on both sides, or that are not."""

    before: range
    after: range
    same: bool


def aligned_runs(before: str, after: str, *, exact: bool = False) -> list[Run]:
    """Both texts, whole and in order, as runs of lines that are the same and runs that are not."""
    before_lines, after_lines = _lines(before), _lines(after)
    pairs = _unchanged(before_lines, after_lines, exact)
    return [Run(*run) for run in _runs(pairs, len(before_lines), len(after_lines))]


@dataclass(frozen=True)
class Move:
    """A line of `before` that stands elsewhere in `after`, both from 0 on."""

    before: int
    after: int


class Alignment:
    """Two texts, aligned line by line. Lines are counted from 0."""

    def __init__(self, before: str, after: str) -> None:
        self._before, self._after = _lines(before), _lines(after)
        #: The lines of both sides, without the numbers of values.
        self.keys = _keys(self._before, self._after)
        self._values = _Values()
        self._pairs = _with_same_values(_align(*self.keys), self._before, self._after, self._values)

    @cached_property
    def runs(self) -> list[Run]:
        """Both texts, whole and in order."""
        return [Run(*run) for run in _runs(self._pairs, len(self._before), len(self._after))]

    @cached_property
    def moves(self) -> list[Move]:
        """Operations that were only moved: lines that are removed in one place and added in another.

        Their operands must be those that they were. Lines that do not name an operation (a brace) are
        not said to have moved.
        """
        stayed, came = ({pair[side] for pair in self._pairs} for side in (0, 1))
        before_keys, after_keys = ([key.strip() for key in keys] for keys in self.keys)
        removed: dict[str, list[int]] = {}
        for i, key in enumerate(before_keys):
            if i not in stayed and _RECOGNISABLE.search(key):
                removed.setdefault(key, []).append(i)
        moves: list[Move] = []
        for j, key in enumerate(after_keys):
            candidates = removed.get(key, []) if j not in came else []
            found = next((i for i in candidates if self._operands_match(i, j)), None)
            if found is not None:
                candidates.remove(found)
                self._values.match(self._before[found], self._after[j])
                moves.append(Move(found, j))
        return moves

    def _operands_match(self, i: int, j: int) -> bool:
        return self._values.operands_match(self._before[i], self._after[j])


def _lines(text: str) -> list[str]:
    """Split after every line feed and nowhere else."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


# --- which lines are the same -----------------------------------------------------------------


def _unchanged(before: list[str], after: list[str], exact: bool) -> list[Pair]:
    if before == after:
        return [(index, index) for index in range(len(before))]
    if exact:
        return _align(before, after)
    return _with_same_values(_align(*_keys(before, after)), before, after, _Values())


def _keys(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """What the lines say without the numbers of values, with the same aliases on both sides."""
    renamed = _with_aliases_of("".join(after), "".join(before))
    before_keys, after_keys = (_lines(_without_numbers(text)) for text in (renamed, "".join(after)))
    return before_keys, after_keys


def _without_numbers(text: str) -> str:
    text = _NUMBER_OF_NAME.sub(r"\1", text)
    for number in _NUMBERS:
        text = number.sub("", text)
    return text


def _with_aliases_of(text: str, other: str) -> str:
    """Rewrite `other` so that an alias of an attribute or a type has the name it has in `text`."""
    wanted = {meaning: name for name, meaning in _alias_meanings(text).items()}
    found = _alias_meanings(other)
    names = {name: wanted.get(meaning, f"{name} of before") for name, meaning in found.items()}
    if all(name == new for name, new in names.items()):
        return other
    return _ALIAS.sub(lambda match: names.get(match[0], match[0]), other)


def _alias_meanings(text: str) -> dict[str, str]:
    """The aliases a module defines at its head, with those of their definitions that are aliases resolved."""
    meanings: dict[str, str] = {}
    for name, definition in _ALIAS_DEFINITION.findall(text):
        meaning = _ALIAS.sub(lambda match: meanings.get(match[0], match[0]), definition)
        # An alias of aliases of aliases may grow without bound; no compiler writes one.
        meanings[name] = meaning if len(meaning) < 10_000 else definition
    return meanings


def _align(before: Sequence[str], after: Sequence[str]) -> list[Pair]:
    """Pair equal lines in order, as many as can be had at little cost."""
    return list(_pairs(before, after, range(len(before)), range(len(after)), _ANCHOR_WIDTHS))


def _pairs(
    before: Sequence[str], after: Sequence[str], old: range, new: range, widths: tuple[int, ...]
) -> Iterator[Pair]:
    """Pair the lines of two ranges: first at anchors, then in the gaps between them.

    A small gap is aligned with as few changes as possible; a large one is split again at wider anchors.
    """
    while old and new and before[old[0]] == after[new[0]]:
        yield old[0], new[0]
        old, new = old[1:], new[1:]
    length = 0
    while length < min(len(old), len(new)) and before[old[-1 - length]] == after[new[-1 - length]]:
        length += 1
    tail = list(zip(old[len(old) - length :], new[len(new) - length :], strict=True))
    old, new = old[: len(old) - length], new[: len(new) - length]
    if len(old) * len(new) <= _FEW_COMPARISONS or not widths:
        yield from _fewest_changes(before, after, old, new)
    else:
        for i, j in _anchors(before, after, old, new, widths[0]):
            yield from _pairs(before, after, range(old.start, i), range(new.start, j), widths[1:])
            yield i, j
            old, new = range(i + 1, old.stop), range(j + 1, new.stop)
        yield from _pairs(before, after, old, new, widths[1:])
    yield from tail


def _fewest_changes(before: Sequence[str], after: Sequence[str], old: range, new: range) -> Iterator[Pair]:
    if not old or not new or len(old) * len(new) > _MAXIMUM_COMPARISONS:
        return
    opcodes = Indel.opcodes(before[old.start : old.stop], after[new.start : new.stop])
    for i, j, length in opcodes.as_matching_blocks():
        for offset in range(length):
            yield old[i + offset], new[j + offset]


def _anchors(before: Sequence[str], after: Sequence[str], old: range, new: range, width: int) -> list[Pair]:
    """Pair lines that start a run of `width` lines found once on each side, in the same order on both.

    The longest such chain, by patience sorting.
    """
    before_runs = [tuple(before[i : min(i + width, old.stop)]) for i in old]
    after_runs = [tuple(after[j : min(j + width, new.stop)]) for j in new]
    before_counts, after_counts = Counter(before_runs), Counter(after_runs)
    places = {run: j for run, j in zip(after_runs, new, strict=True) if after_counts[run] == 1}
    lowest_ends: list[int] = []  # of the increasing runs of each length, the lowest last place
    chains: list[tuple[Pair, object]] = []  # … and the run itself, as a linked list
    for i, run in zip(old, before_runs, strict=True):
        if before_counts[run] != 1 or (j := places.get(run)) is None:
            continue
        length = bisect_left(lowest_ends, j)
        link = ((i, j), chains[length - 1] if length else None)
        lowest_ends[length : length + 1] = [j]
        chains[length : length + 1] = [link]
    anchors: list[Pair] = []
    chain: object = chains[-1] if chains else None
    while isinstance(chain, tuple):
        anchors.append(chain[0])
        chain = chain[1]
    return anchors[::-1]


class _Values:
    """Which value of the one side is which of the other: each is one and the same wherever it appears."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}
        self._once: dict[str, str] = {}

    def clear(self) -> None:
        self._now.clear()
        self._once.clear()

    def match(self, old_line: str, new_line: str) -> bool:
        """Take in a line of each side; whether the values that they use correspond.

        A definition (`%a = `, `%a: type`) says what corresponds from there on; so does the first appearance.
        """
        same = True
        in_results = old_line.lstrip().startswith("%")
        for (old, mark), (new, _) in zip(_VALUE.findall(old_line), _VALUE.findall(new_line), strict=False):
            if mark or in_results or self._is_new(old, new):
                self._now[old], self._once[new] = new, old
                in_results = in_results and mark != " ="
            elif self._now.get(old) != new:
                same = False
        return same

    def operands_match(self, old_line: str, new_line: str) -> bool:
        """Whether what two lines use, beside what they define, corresponds as far as it is known."""
        in_results = old_line.lstrip().startswith("%")
        for (old, mark), (new, _) in zip(_VALUE.findall(old_line), _VALUE.findall(new_line), strict=False):
            if mark or in_results:
                in_results = in_results and mark != " ="
            elif not self._is_new(old, new) and self._now.get(old) != new:
                return False
        return True

    def _is_new(self, old: str, new: str) -> bool:
        return old not in self._now and new not in self._once


def _with_same_values(pairs: list[Pair], before: list[str], after: list[str], values: _Values) -> list[Pair]:
    """Keep the pairs whose values correspond, each to the same one wherever it appears."""
    kept = []
    for i, j in pairs:
        if before[i].startswith("define "):
            values.clear()
        if values.match(before[i], after[j]):
            kept.append((i, j))
    return kept


# --- the unified format -----------------------------------------------------------------------

#: A run of lines: the range of `before`, the range of `after`, and whether they are the same.
_Run = tuple[range, range, bool]


def _hunks(pairs: list[Pair], before_count: int, after_count: int, context: int) -> Iterator[list[_Run]]:
    """Group changes that have at most twice `context` unchanged lines between them."""
    hunk: list[_Run] = []
    for old, new, same in _runs(pairs, before_count, after_count):
        if not same or (hunk and len(old) <= 2 * context):
            hunk.append((old, new, same))
            continue
        if hunk:
            yield [*hunk, (old[:context], new[:context], True)]
        skipped = max(len(old) - context, 0)
        hunk = [(old[skipped:], new[skipped:], True)]
    if hunk and hunk[-1][2]:
        old, new, _ = hunk.pop()
        hunk.append((old[:context], new[:context], True))
    if any(not same for _, _, same in hunk):
        yield hunk


def _runs(pairs: list[Pair], before_count: int, after_count: int) -> Iterator[_Run]:
    i = j = 0
    index = 0
    while index < len(pairs) or i < before_count or j < after_count:
        next_i, next_j = pairs[index] if index < len(pairs) else (before_count, after_count)
        if (next_i, next_j) != (i, j):
            yield range(i, next_i), range(j, next_j), False
        length = 0
        while index < len(pairs) and pairs[index] == (next_i + length, next_j + length):
            length += 1
            index += 1
        i, j = next_i + length, next_j + length
        if length:
            yield range(next_i, i), range(next_j, j), True


def _write_hunk(hunk: list[_Run], before: list[str], after: list[str]) -> str:
    old = range(hunk[0][0].start, hunk[-1][0].stop)
    new = range(hunk[0][1].start, hunk[-1][1].stop)
    parts = [f"@@ -{_write_range(old)} +{_write_range(new)} @@\n"]
    for in_before, in_after, same in hunk:
        if same:
            parts.extend(_write_line(" ", after[j]) for j in in_after)
        else:
            parts.extend(_write_line("-", before[i]) for i in in_before)
            parts.extend(_write_line("+", after[j]) for j in in_after)
    return "".join(parts)


def _write_range(lines: range) -> str:
    """`start,length` counted from 1; an empty range names the line before it."""
    return f"{lines.start + 1 if lines else lines.start},{len(lines)}"


def _write_line(mark: str, line: str) -> str:
    return mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
