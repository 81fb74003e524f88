"""The query for a run as a few lines of text, as `triton-explorer profile` prints it."""

from __future__ import annotations

import msgspec

from explorer.analysis.roofline.documents import RooflineDocument
from explorer.queries import roofline
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.runs.summary import summary_of


def _find(subject: Subject) -> str:
    answer = msgspec.json.decode(subject.answer(roofline.QUERY, {}), type=RooflineDocument)
    return summary_of(subject.record, subject.records[1], answer)


QUERY = Query(
    name="summary",
    about="run",
    summary="The run in a few lines of text: the launch, the check, the measurements and the roofline.",
    version=1,
    document="text/plain",
    find=_find,
    is_lasting=False,  # the answer of the roofline may change
    saved=nothing_saved,
)
