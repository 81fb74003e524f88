"""How many lines each pass has added and removed.

Comparing large modules takes longer than compiling them, so it is not done before somebody asks.
"""

from __future__ import annotations

import msgspec

from explorer.analysis.diff import count_changes
from explorer.store.record import Record

#: Lines added and removed, by the index of the pass.
Changes = dict[int, tuple[int, int]]


def changes_of(record: Record) -> Changes:
    """Compare the module before and after each pass."""
    changes: Changes = {}
    before = ""
    for index, entry in sorted(record.result.passes.items()):
        changes[index] = (0, 0)
        if entry.text is not None:
            after = record.text(entry.text)
            changes[index] = count_changes(before, after)
            before = after
    return changes


def encode_changes(changes: Changes) -> bytes:
    """The changes as JSON."""
    return msgspec.json.encode(changes)


def decode_changes(data: bytes) -> Changes:
    """The other way round."""
    return msgspec.json.decode(data, type=Changes)
