"""The alignment of two sequences: pairs of equal items, in order. It finds as many as it can at little cost.

Anchors (items that each side has once) come first, so that the time is nearly linear for long sequences.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from rapidfuzz.distance import Indel

#: Items `before[i]` and `after[j]` (from 0) that are the same.
Pair = tuple[int, int]

#: How many items in a row must be found once on each side to be an anchor, tried in this order.
_ANCHOR_WIDTHS = (1, 8, 64)

#: A gap between anchors of this many comparisons takes a millisecond, so it is not split further.
_FEW_COMPARISONS = 1_000_000

#: … and a gap of this many takes half a second and 50 MB. A larger gap counts as replaced.
_MAXIMUM_COMPARISONS = 400_000_000


def split_lines(text: str) -> list[str]:
    """Split a text after every line feed and nowhere else."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def align(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Pair]:
    """Pair equal items of two sequences, in order."""
    return list(_pairs(before, after, range(len(before)), range(len(after)), _ANCHOR_WIDTHS))


def align_gaps(before: Sequence[Hashable], after: Sequence[Hashable], pairs: list[Pair]) -> list[Pair]:
    """Pair equal items between the items that are already paired. Return all pairs."""
    found: list[Pair] = []
    i = j = 0
    for next_i, next_j in [*pairs, (len(before), len(after))]:
        if i < next_i and j < next_j:
            found.extend(_pairs(before, after, range(i, next_i), range(j, next_j), _ANCHOR_WIDTHS))
        found.append((next_i, next_j))
        i, j = next_i + 1, next_j + 1
    return found[:-1]


def _pairs(
    before: Sequence[Hashable], after: Sequence[Hashable], old: range, new: range, widths: tuple[int, ...]
) -> Iterator[Pair]:
    """Pair the lines of two ranges: first at anchors, then in the gaps between them.

    A small gap is aligned with as few changes as possible; a large gap is split again at wider anchors.
    """
    length = 0
    while length < min(len(old), len(new)) and before[old[length]] == after[new[length]]:
        length += 1
    yield from zip(old[:length], new[:length], strict=True)
    old, new = old[length:], new[length:]
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


def _fewest_changes(
    before: Sequence[Hashable], after: Sequence[Hashable], old: range, new: range
) -> Iterator[Pair]:
    if not old or not new or len(old) * len(new) > _MAXIMUM_COMPARISONS:
        return
    opcodes = Indel.opcodes(before[old.start : old.stop], after[new.start : new.stop])
    for i, j, length in opcodes.as_matching_blocks():
        for offset in range(length):
            yield old[i + offset], new[j + offset]


def _anchors(
    before: Sequence[Hashable], after: Sequence[Hashable], old: range, new: range, width: int
) -> list[Pair]:
    """Pair lines that start a block of `width` lines found once on each side, in the same order on both.

    The pairs are the longest increasing chain, by patience sorting.
    """
    before_blocks = [tuple(before[i : min(i + width, old.stop)]) for i in old]
    after_blocks = [tuple(after[j : min(j + width, new.stop)]) for j in new]
    before_counts, after_counts = Counter(before_blocks), Counter(after_blocks)
    places = {block: j for block, j in zip(after_blocks, new, strict=True) if after_counts[block] == 1}
    lowest_ends: list[int] = []  # the lowest last place among the increasing chains of each length
    chains: list[tuple[Pair, object]] = []  # … and that chain, as a linked list
    for i, block in zip(old, before_blocks, strict=True):
        if before_counts[block] != 1 or (j := places.get(block)) is None:
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
