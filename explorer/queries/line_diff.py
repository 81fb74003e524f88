"""The document of a diff: two texts, line by line."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from explorer.analysis.diff import Alignment, Move, Renaming, Span
from explorer.analysis.diff.operations import KindChange, operation_changes
from explorer.documents import ChangeCounts

#: The text before and the text after.
Texts = tuple[str, str]


class DiffDocument(ChangeCounts, frozen=True):
    """Two whole texts as spans of lines, in order. A renamed value or register is no change.

    An operation that only moved counts as moved, and its lines count as added and removed.
    """

    kinds: list[KindChange]
    spans: list[Span] = msgspec.field(name="runs")
    moves: list[Move]

    @classmethod
    def of(
        cls,
        before: str,
        after: str,
        renaming: Renaming = "values",
        language: str = "",
        *,
        stable: Texts | None = None,
    ) -> DiffDocument:
        """Compare two texts in which names may differ.

        `language` is the language of the operations. `stable` are the texts to compare instead, line by line.
        """
        alignment = Alignment(*(stable or (before, after)), renaming)
        spans = alignment.spans
        operations = operation_changes(alignment, before, after, language)
        return cls(
            lines_added=sum(span.after_lines for span in spans if not span.same),
            lines_removed=sum(span.before_lines for span in spans if not span.same),
            operations_added=operations.added,
            operations_removed=operations.removed,
            operations_moved=operations.moved,
            kinds=operations.kinds,
            spans=spans,
            moves=alignment.moves,
        )


#: The cached documents of two texts. A saved page has the changes of each pass line by line and counted; most
#: passes change nothing. The cache ends with the process of a query.
compared = lru_cache(maxsize=256)(DiffDocument.of)
