"""The query for the passes in which a text appears, changes and vanishes."""

from __future__ import annotations

import msgspec

from explorer.errors import InvalidRequest
from explorer.queries.query import Parameter, Query, Subject, nothing_saved

_MOST_CHARACTERS = 200


class PassMatches(msgspec.Struct, frozen=True):
    """The lines of the module that contain the text, before and after a pass that changed their number.

    `line` is the first of them after the pass, from 1 on; 0: there is none.
    """

    index: int
    before: int
    after: int
    line: int


def _find(subject: Subject) -> list[PassMatches]:
    text = subject.parameters.get("text", "").casefold()
    if len(text) > _MOST_CHARACTERS or "\n" in text:
        raise InvalidRequest(
            f"The parameter `text` must have at most {_MOST_CHARACTERS} characters in one line. "
            "Search for a part of a line, such as `convert_layout`."
        )
    if not text:
        return []
    record = subject.record
    found: list[PassMatches] = []
    before = 0
    for index, entry in sorted(record.result.passes.items()):
        if entry.text is None:
            continue
        lines = [
            number
            for number, line in enumerate(record.text(entry.text).casefold().split("\n"), 1)
            if text in line
        ]
        if len(lines) != before:
            found.append(PassMatches(index, before, len(lines), lines[0] if lines else 0))
        before = len(lines)
    return found


QUERY = Query(
    name="pass_search",
    path="/passes/search",
    summary="Find the passes in which a text appears, vanishes, or is in more or fewer lines.",
    version=1,
    document=list[PassMatches],
    find=_find,
    parameters=(
        Parameter(
            "text", str, "The text that a line contains, in upper or lower case. An empty text finds nothing."
        ),
    ),
    saved=nothing_saved,
)
