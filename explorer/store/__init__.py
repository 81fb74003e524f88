"""Results, for ever: rows in a database, texts in a folder, both behind `Store`."""

from explorer.store.entries import BinaryEntry, Entry, MeasurementEntry, PassEntry, Result, StageEntry
from explorer.store.record import Record, Status, compilation_of
from explorer.store.store import Store

__all__ = [
    "BinaryEntry",
    "Entry",
    "MeasurementEntry",
    "PassEntry",
    "Record",
    "Result",
    "StageEntry",
    "Status",
    "Store",
    "compilation_of",
]
