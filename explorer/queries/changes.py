"""The query for the number of lines and operations that each pass added, removed and moved.

Comparing large modules takes longer than compiling them, so the changes are counted on request only. The
alignments of large modules, which counting needs, are cached as answers to another query.
"""

from __future__ import annotations

import contextlib

import msgspec

from explorer.documents import ChangeCounts, Changes
from explorer.errors import ResultTooLarge
from explorer.jobs.isolated_process import Awaited
from explorer.queries.line_diff import compared
from explorer.queries.pass_diff import PASS_ALIGNMENT
from explorer.queries.pass_language import pass_language
from explorer.queries.query import Query, Subject
from explorer.queries.query_service import QueryService
from explorer.store import Record

#: From this many characters on, the alignment of two modules takes a tenth of a second or more.
_LARGE_CHARACTERS = 500_000


class PassChanges(msgspec.Struct, frozen=True):
    """How many lines and operations the pass `index` added and removed, and how many it only moved."""

    index: int
    lines_added: int
    lines_removed: int
    operations_added: int
    operations_removed: int
    operations_moved: int


def counted_changes(query_service: QueryService, record: Record, is_awaited: Awaited) -> Changes:
    """Return the changes of each pass; {} if the compilation is not finished."""
    return by_index(query_service.answer(QUERY, (record,), {}, is_awaited)) if record.is_finished else {}


def known_changes(query_service: QueryService, record: Record) -> Changes:
    """Return the changes of each pass if they are cached, otherwise {}."""
    document = query_service.cached(QUERY, record, {})
    return {} if document is None else by_index(document)


def by_index(document: bytes) -> Changes:
    """Return the changes of each pass from an answer to the query."""
    rows = msgspec.json.decode(document, type=list[PassChanges])
    return {row.index: ChangeCounts(*msgspec.structs.astuple(row)[1:]) for row in rows}


def _find(subject: Subject) -> list[PassChanges]:
    record = subject.record
    changes: list[PassChanges] = []
    before, is_known = "", True
    for index, entry in sorted(record.result.passes.items()):
        counts = (0, 0, 0, 0, 0)
        if entry.omitted:
            is_known = False
        elif entry.text is not None and not is_known:  # earlier passes may have made the changes
            before, is_known = record.text(entry.text), True
        elif entry.text is not None:
            after = record.text(entry.text)
            diff = compared(before, after, "values", pass_language(record, index))
            if len(before) + len(after) >= _LARGE_CHARACTERS:
                # The page requests counts when the passes become visible, before a pass is opened.
                with contextlib.suppress(ResultTooLarge):
                    subject.answer(PASS_ALIGNMENT, {"index": str(index)})
            counts = (
                diff.lines_added,
                diff.lines_removed,
                diff.operations_added,
                diff.operations_removed,
                diff.operations_moved,
            )
            before = after
        changes.append(PassChanges(index, *counts))
    return changes


QUERY = Query(
    name="changes",
    summary="The lines and operations that each pass added, removed and moved, without renamed SSA values.",
    version=2,
    document=list[PassChanges],
    find=_find,
)
