"""The documents of compilations, as the API answers and the command line prints them.

In: records. Out: structures that are encoded as JSON; absent values are null or empty, never missing.
Documents of runs are in `runs`, documents of queries in `queries`.
"""

from explorer.documents.compilations import (
    CompilationDocument,
    InspectionDocument,
    RequestDocument,
    TargetDocument,
)
from explorer.documents.events import EventDocument, event_document
from explorer.documents.lines import (
    MOST_LINES,
    FoundLine,
    FoundLinesDocument,
    LinesDocument,
    TextLinesDocument,
    shortened,
    split_lines,
)
from explorer.documents.links import API, ApiLinks, FileLinks, Links, RunFileLinks, RunLinks, file_stem
from explorer.documents.locations import LocationsDocument
from explorer.documents.parts import (
    BinaryDocument,
    ChangeCounts,
    Changes,
    MeasurementDocument,
    PassDocument,
    ResourcesDocument,
    StageDocument,
    log_documents,
)
from explorer.documents.problems import Problem

__all__ = [
    "API",
    "MOST_LINES",
    "ApiLinks",
    "BinaryDocument",
    "ChangeCounts",
    "Changes",
    "CompilationDocument",
    "EventDocument",
    "FileLinks",
    "FoundLine",
    "FoundLinesDocument",
    "InspectionDocument",
    "LinesDocument",
    "Links",
    "LocationsDocument",
    "MeasurementDocument",
    "PassDocument",
    "Problem",
    "RequestDocument",
    "ResourcesDocument",
    "RunFileLinks",
    "RunLinks",
    "StageDocument",
    "TargetDocument",
    "TextLinesDocument",
    "event_document",
    "file_stem",
    "log_documents",
    "shortened",
    "split_lines",
]
