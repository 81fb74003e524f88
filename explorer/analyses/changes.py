"""How many lines each pass has added and removed.

Comparing large modules takes longer than compiling them, so it is not done before somebody looks.
"""

from __future__ import annotations

import msgspec

from explorer.analyses.analysis import Analysis, Subject
from explorer.analyses.analyst import Analyst
from explorer.analysis.diff import count_changes
from explorer.documents import Changes
from explorer.store import Record


class PassChanges(msgspec.Struct, frozen=True):
    """The lines that the pass `index` has added and removed."""

    index: int
    lines_added: int
    lines_removed: int


def counted_changes(analyst: Analyst, record: Record) -> Changes:
    """Lines added and removed by each pass of a finished compilation; nothing while it runs."""
    return _by_index(analyst.answer(ANALYSIS, record, {})) if record.is_finished else {}


def known_changes(analyst: Analyst, record: Record) -> Changes:
    """The same if they have been counted before, else nothing."""
    document = analyst.known(ANALYSIS, record, {})
    return {} if document is None else _by_index(document)


def _by_index(document: bytes) -> Changes:
    rows = msgspec.json.decode(document, type=list[PassChanges])
    return {row.index: (row.lines_added, row.lines_removed) for row in rows}


def _find(subject: Subject) -> list[PassChanges]:
    record = subject.record
    changes: list[PassChanges] = []
    before = ""
    for index, entry in sorted(record.result.passes.items()):
        added = removed = 0
        if entry.text is not None:
            after = record.text(entry.text)
            added, removed = count_changes(before, after)
            before = after
        changes.append(PassChanges(index, added, removed))
    return changes


ANALYSIS = Analysis(
    name="changes",
    summary="Lines that each pass has added and removed; a value that was only renumbered is no change.",
    version=1,
    document=list[PassChanges],
    find=_find,
)
