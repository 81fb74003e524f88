"""Truncation of lines that no compiler writes, which bounds the cost of reading a hostile text."""

from __future__ import annotations

_LONGEST = 20_000


def with_short_lines(text: str) -> str:
    """Return a text whose lines are short enough, with as many lines as before."""
    lines = text.split("\n")
    if all(len(line) <= _LONGEST for line in lines):
        return text
    return "\n".join(line[:_LONGEST] for line in lines)
