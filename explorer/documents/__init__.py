"""The documents of compilations, as the API answers and the command line prints them.

In: records. Out: structures that are encoded as JSON; absent values are null or empty, never missing.
Documents of runs are in `runs`, documents of queries in `queries`.
"""

from explorer.documents.compilations import (
    CompilationDocument,
    InspectionDocument,
    TargetDocument,
)
from explorer.documents.events import event_document
from explorer.documents.lines import (
    MOST_LINES,
    FoundLine,
    FoundLinesDocument,
    LinesDocument,
    TextLinesDocument,
    shortened,
    split_lines,
)
from explorer.documents.links import API, ApiLinks, FileLinks, RunFileLinks, RunLinks, file_stem
from explorer.documents.locations import LocationsDocument
from explorer.documents.parts import (
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
    "ChangeCounts",
    "Changes",
    "CompilationDocument",
    "FileLinks",
    "FoundLine",
    "FoundLinesDocument",
    "InspectionDocument",
    "LinesDocument",
    "LocationsDocument",
    "MeasurementDocument",
    "PassDocument",
    "Problem",
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
