"""A range of highlighted lines of a text, for a page that shows only what is in sight."""

from __future__ import annotations

import msgspec

from explorer.analyses import Parameter
from explorer.errors import InvalidRequest
from explorer.lexers import Span, highlight_lines
from explorer.views.http import query_integer

MOST_LINES = 2000
#: A run of lines with more characters than this is answered without colours: no compiler writes such lines,
#: and a hostile source could have one of megabytes, all tokens.
_MOST_COLOURED_CHARACTERS = 1_000_000
RANGE = (
    Parameter("from", int, "First line, from 1 on."),
    Parameter("to", int, f"Last line. At most {MOST_LINES:,} lines come at once."),
)


class Line(msgspec.Struct, frozen=True):
    """A line: `n` from 1 on, and its tokens as pairs of a Pygments class and the characters."""

    n: int
    tokens: list[Span]


class LinesDocument(msgspec.Struct, frozen=True, rename={"first": "from", "last": "to"}):
    """The lines from `from` to `to` of `total` lines."""

    first: int
    last: int
    total: int
    lines: list[Line]


def lines_document(text: str, language: str) -> LinesDocument:
    """The lines that the query string asks for; as many of them as there are.

    Raises:
        InvalidRequest: the range is not one.
    """
    first = query_integer("from", 1, minimum=1)
    last = query_integer("to", first + MOST_LINES - 1, minimum=1)
    if last < first:
        raise InvalidRequest(f"'to' must not be before 'from', got {first} to {last}.")
    lines = _split(text)
    last = min(last, first + MOST_LINES - 1, len(lines))
    return LinesDocument(first, last, len(lines), _numbered(lines, language, first, last))


def all_lines(text: str, language: str) -> LinesDocument:
    """All lines, coloured as they are when they are asked for range by range."""
    lines = _split(text)
    numbered = [
        line
        for first in range(1, len(lines) + 1, MOST_LINES)
        for line in _numbered(lines, language, first, min(first + MOST_LINES - 1, len(lines)))
    ]
    return LinesDocument(1, len(lines), len(lines), numbered)


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _numbered(lines: list[str], language: str, first: int, last: int) -> list[Line]:
    coloured = _coloured(lines[first - 1 : last], language)
    return [Line(number, tokens) for number, tokens in enumerate(coloured, first)]


def _coloured(lines: list[str], language: str) -> list[list[Span]]:
    if sum(map(len, lines)) > _MOST_COLOURED_CHARACTERS:
        return [[("", line)] if line else [] for line in lines]
    return highlight_lines(lines, language)
