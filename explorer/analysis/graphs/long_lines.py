"""Truncation of lines that no compiler writes, which bounds the cost of reading a hostile text."""

from __future__ import annotations

_LONGEST = 20_000


def with_short_lines(text: str) -> str:
    """Return the text with long lines truncated; the number of lines stays the same."""
    lines = text.split("\n")
    if all(len(line) <= _LONGEST for line in lines):
        return text
    return "\n".join(line[:_LONGEST] for line in lines)
