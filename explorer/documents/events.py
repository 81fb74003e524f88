"""The documents of events: one for each entry of a job."""

from __future__ import annotations

from explorer.documents.links import Links
from explorer.documents.parts import (
    BinaryDocument,
    MeasurementDocument,
    PassDocument,
    ResourcesDocument,
    StageDocument,
)
from explorer.model import (
    Allocation,
    Answer,
    Diagnostic,
    Done,
    Inspection,
    Log,
    Progress,
    Resources,
    Specialized,
)
from explorer.store import BinaryEntry, Entry, MeasurementEntry, PassEntry, StageEntry

EventDocument = (
    Inspection
    | Specialized
    | StageDocument
    | PassDocument
    | ResourcesDocument
    | BinaryDocument
    | Allocation
    | Answer
    | MeasurementDocument
    | Progress
    | Diagnostic
    | Log
    | Done
)


def event_document(entry: Entry, target: str, links: Links) -> EventDocument:
    """Return the data of the event of an entry: the same rows as in the index."""
    match entry:
        case StageEntry():
            return StageDocument.of(entry, links)
        case PassEntry():
            return PassDocument.of(entry, links, {})
        case Resources():
            return ResourcesDocument.of(entry, target)
        case BinaryEntry():
            return BinaryDocument.of(entry, links)
        case MeasurementEntry():
            return MeasurementDocument(entry.name, links.measurement(entry.name))
        case _:
            return entry
