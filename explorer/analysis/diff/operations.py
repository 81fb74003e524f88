"""The operations that differ between two texts, by their kind.

In: both texts, their alignment and their language. Out: how many operations or instructions were added,
removed and moved, and the lines of each kind. Braces, labels, declarations and aliases do not count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from explorer.analysis.diff import Alignment
from explorer.model.languages import find_language


@dataclass
class KindChange:
    """The changed lines of a kind of operation, from 0 on."""

    removed: list[int] = field(default_factory=list)
    added: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class OperationChanges:
    """The numbers of changed operations. A rewritten operation counts as removed and added."""

    added: int
    removed: int
    moved: int
    kinds: dict[str, KindChange]


def operation_changes(alignment: Alignment, before: str, after: str, language: str) -> OperationChanges:
    """Count the operations that differ. `kinds` also has the lines of moved operations."""
    pattern = find_language(language).operation
    kinds: dict[str, KindChange] = {}
    if pattern is None:
        return OperationChanges(0, 0, 0, kinds)
    old, new = before.split("\n"), after.split("\n")
    added = removed = 0
    for span in alignment.spans:
        if not span.same:
            for i in span.before:
                if found := pattern.search(old[i]):
                    kinds.setdefault(_kind(found), KindChange()).removed.append(i)
                    removed += 1
            for j in span.after:
                if found := pattern.search(new[j]):
                    kinds.setdefault(_kind(found), KindChange()).added.append(j)
                    added += 1
    moved = sum(pattern.search(new[move.after]) is not None for move in alignment.moves)
    return OperationChanges(added - moved, removed - moved, moved, kinds)


def _kind(found: re.Match[str]) -> str:
    return found.groupdict().get("kind") or ""
