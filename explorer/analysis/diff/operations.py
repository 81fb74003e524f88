"""The operations that differ between two texts, by their kind.

In: both texts, their alignment and their language. Out: how many operations or instructions were added,
removed and moved, and the lines of each kind. Braces, labels, declarations and aliases do not count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from explorer.analysis.diff import Alignment
from explorer.model.languages import find_language


@dataclass(frozen=True)
class KindChange:
    """A kind of operation with the lines that differ, from 1 on. A line that only moved is on both sides."""

    name: str
    before_lines: list[int] = field(default_factory=list)
    after_lines: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class OperationChanges:
    """The numbers of changed operations. A rewritten operation counts as removed and added."""

    added: int
    removed: int
    moved: int
    kinds: list[KindChange]


def operation_changes(alignment: Alignment, before: str, after: str, language: str) -> OperationChanges:
    """Count the operations that differ. `kinds`, sorted by name, also has the lines of moved operations."""
    pattern = find_language(language).operation
    kinds: dict[str, KindChange] = {}
    if pattern is None:
        return OperationChanges(0, 0, 0, [])

    def of_kind(found: re.Match[str]) -> KindChange:
        name = found.groupdict().get("kind") or ""
        return kinds.setdefault(name, KindChange(name))

    old, new = before.split("\n"), after.split("\n")
    added = removed = 0
    for span in alignment.spans:
        if not span.same:
            for i in span.before:
                if found := pattern.search(old[i]):
                    of_kind(found).before_lines.append(i + 1)
                    removed += 1
            for j in span.after:
                if found := pattern.search(new[j]):
                    of_kind(found).after_lines.append(j + 1)
                    added += 1
    moved = sum(pattern.search(new[move.after_line - 1]) is not None for move in alignment.moves)
    return OperationChanges(added - moved, removed - moved, moved, [kinds[name] for name in sorted(kinds)])
