"""Ranges of highlighted lines."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.documents import MOST_LINES, LinesDocument
from explorer.errors import InvalidRequest
from explorer.queries import Parameter
from explorer.views.http import query_integer

RANGE = (
    Parameter("from", int, "First line, from 1 on."),
    Parameter("to", int, f"Last line. At most {MOST_LINES:,} lines are returned."),
)


def lines_document(lines: Iterable[str], language: str) -> LinesDocument:
    """Return the existing lines of a text in the range of the query string.

    Raises:
        InvalidRequest: the range is invalid.
    """
    return LinesDocument.of(lines, language, *asked_range())


def asked_range() -> tuple[int, int]:
    """Return the first and the last line of the range in the query string.

    Raises:
        InvalidRequest: the range is invalid.
    """
    first = query_integer("from", 1, minimum=1)
    last = query_integer("to", first + MOST_LINES - 1, minimum=1)
    if last < first:
        raise InvalidRequest(f"'to' must not be before 'from', got {first} to {last}.")
    return first, last
