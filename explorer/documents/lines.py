"""Highlighted lines of a text: the page requests only the visible lines."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from explorer.lexers import Span, highlight_lines

MOST_LINES = 2000
#: Longer ranges are not highlighted. No compiler writes such lines, but a hostile source can have megabytes
#: of tokens in one line.
_MOST_COLORED_CHARACTERS = 1_000_000
_MOST_SHOWN_CHARACTERS = 2_000


class Line(msgspec.Struct, frozen=True):
    """A line: `n` counts from 1, and `tokens` are pairs of a Pygments class and the text."""

    n: int
    tokens: list[Span]


class TextLinesDocument(msgspec.Struct, frozen=True, rename={"first": "from"}):
    """Lines of a text from `from` on, of `total` lines. Very long lines are shortened."""

    first: int
    lines: list[str]
    total: int

    @classmethod
    def of(cls, lines: Iterable[str], first: int, last: int) -> TextLinesDocument:
        """Return the lines from `first` to `last`, as far as they exist, and `MOST_LINES` at most."""
        last = min(last, first + MOST_LINES - 1)
        found, total = [], 0
        for total, line in enumerate(lines, 1):
            if first <= total <= last:
                found.append(shortened(line))
        return cls(first, found, total)


class FoundLine(msgspec.Struct, frozen=True):
    """A line that contains the text that was searched; `line` counts from 1."""

    line: int
    text: str


class FoundLinesDocument(msgspec.Struct, frozen=True):
    """Lines that contain a text, of `total` such lines."""

    lines: list[FoundLine]
    total: int

    @classmethod
    def of(cls, lines: Iterable[str], text: str, first: int) -> FoundLinesDocument:
        """Return the lines with a text, ignoring case, from index `first` on, `MOST_LINES` at most."""
        wanted = text.casefold()
        found, total = [], 0
        for number, line in enumerate(lines, 1):
            if wanted in line.casefold():
                if first <= total < first + MOST_LINES:
                    found.append(FoundLine(number, shortened(line)))
                total += 1
        return cls(found, total)


def shortened(line: str) -> str:
    """Return a line, cut after 2,000 characters."""
    left_out = len(line) - _MOST_SHOWN_CHARACTERS
    return f"{line[:_MOST_SHOWN_CHARACTERS]} … ({left_out} more characters)" if left_out > 0 else line


class LinesDocument(msgspec.Struct, frozen=True, rename={"first": "from", "last": "to"}):
    """The lines from `from` to `to`, of `total` lines."""

    first: int
    last: int
    total: int
    lines: list[Line]

    @classmethod
    def of(cls, lines: Iterable[str], language: str, first: int, last: int) -> LinesDocument:
        """Return the lines from `first` to `last`, as far as they exist, and `MOST_LINES` at most."""
        last = min(last, first + MOST_LINES - 1)
        found, total = [], 0
        for total, line in enumerate(lines, 1):
            if first <= total <= last:
                found.append(line)
        return cls(first, min(last, total), total, _numbered(found, language, first))

    @classmethod
    def all(cls, text: str, language: str) -> LinesDocument:
        """Return all lines, highlighted range by range."""
        lines = split_lines(text)
        numbered = [
            line
            for start in range(0, len(lines), MOST_LINES)
            for line in _numbered(lines[start : start + MOST_LINES], language, start + 1)
        ]
        return cls(1, len(lines), len(lines), numbered)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text. A line feed at the end starts no further line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _numbered(lines: list[str], language: str, first: int) -> list[Line]:
    return [Line(number, tokens) for number, tokens in enumerate(_colored(lines, language), first)]


def _colored(lines: list[str], language: str) -> list[list[Span]]:
    if sum(map(len, lines)) > _MOST_COLORED_CHARACTERS:
        return [[("", line)] if line else [] for line in lines]
    return highlight_lines(lines, language)
