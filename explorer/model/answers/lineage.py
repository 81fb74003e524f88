"""The answer of the task `lineage`: the origin of each line of each module, as the compiler reports it.

Lines of debug information do not count as lines of a module: they follow from locations, which a lineage
replaces.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

_VALUE = re.compile(r"%[\w$.-]+")
_DEBUG_INFORMATION = "#di_"

#: `count` lines from `line` on come from the line `origin` and, if `step` is 1, from the lines after it:
#: (line, count, origin, step). Lines start at 1. A line with several origins is in several spans.
Span = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class ModuleOrigins:
    """The module after pass `index`, and the lines of the module before it that its lines come from.

    `digest` is its `digest_of_module`. The first module comes from lines of the user's source.
    """

    index: int
    digest: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Lineage:
    """The modules of a compilation, in order, without gaps."""

    modules: tuple[ModuleOrigins, ...]


def is_counted(line: str) -> bool:
    """Return whether a line of a module without locations is counted."""
    return not line.startswith(_DEBUG_INFORMATION)


def digest_of_module(lines: Iterable[str]) -> str:
    """Return a digest of the counted lines of a module without locations. Names of values do not count.

    A lineage replaces locations, and the printer takes the names of values from locations.
    """
    text = _VALUE.sub("%", "\n".join(lines))
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()


def spans_of(origins: Iterable[Iterable[int]]) -> tuple[Span, ...]:
    """Return the spans of lines whose origins are given line by line."""
    spans: list[Span] = []
    growing: list[Span] = []
    for line, lines in enumerate(origins, 1):
        longer: list[Span] = []
        for origin in lines:
            place, span = next(
                ((place, span) for place, each in enumerate(growing) if (span := _grown(each, origin))),
                (None, (line, 1, origin, 0)),
            )
            if place is not None:
                del growing[place]
            longer.append(span)
        spans += growing
        growing = longer
    return tuple(spans + growing)


def _grown(span: Span, origin: int) -> Span | None:
    """Return the span extended by a line from `origin`; None if the line does not continue the span."""
    line, count, first, step = span
    if count == 1 and origin in (first, first + 1):
        return (line, 2, first, origin - first)
    return (line, count + 1, first, step) if origin == first + step * count else None
