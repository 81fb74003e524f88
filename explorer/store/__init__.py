"""Results, for ever: rows in a database, texts in a folder, both behind `Store`."""

from explorer.store.changes import Changes
from explorer.store.entries import Entry, PassEntry, Result, StageEntry
from explorer.store.record import Record, Status
from explorer.store.store import Store

__all__ = ["Changes", "Entry", "PassEntry", "Record", "Result", "StageEntry", "Status", "Store"]
