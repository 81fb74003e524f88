"""The query for the scoreboards of SASS: the waits of each instruction, and the instructions that set
them.
"""

from __future__ import annotations

import msgspec

from explorer.analysis.assembly.scoreboards import Wait, find_waits
from explorer.analysis.graphs import NothingToDraw
from explorer.errors import NotAnswerable
from explorer.queries.query import Query, Subject


class ScoreboardsDocument(msgspec.Struct, frozen=True):
    """A row for each scoreboard that an instruction waits for, in the order of the lines of SASS."""

    waits: tuple[Wait, ...]


def _find(subject: Subject) -> ScoreboardsDocument:
    record = subject.record
    stage = record.result.stages.get("sass")
    if stage is None:
        raise NotAnswerable("The compilation has no SASS, so there are no scoreboards.")
    try:
        return ScoreboardsDocument(find_waits(record.text(stage.text)))
    except NothingToDraw as error:
        raise NotAnswerable(str(error)) from error


QUERY = Query(
    name="scoreboards",
    summary="The scoreboards that each instruction of SASS waits for, and the instructions that set them.",
    version=1,
    document=ScoreboardsDocument,
    find=_find,
)
