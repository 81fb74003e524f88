"""The parts of an answer to `why`: statements, each with its origin, and links."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import msgspec

#: "observed": the compiler or a tool reports it. "modelled": computed by the compiler's rules. "inferred":
#: concluded from locations or from the order of a text.
Basis = Literal["observed", "modelled", "inferred"]
_MOST_NAMES = 6


class WhyLink(msgspec.Struct, frozen=True):
    """A link: to a line of the module after pass `pass_index`, or of `stage` without a pass."""

    label: str
    stage: str
    pass_index: int | None
    line: int


class WhyFact(msgspec.Struct, frozen=True):
    """A statement with its basis. `source` names its origin; names between backticks are code."""

    text: str
    basis: Basis
    source: str
    links: tuple[WhyLink, ...] = ()


def code(name: str) -> str:
    """Return a name or a line of code between backticks, without the backticks in it."""
    return f"`{name.replace('`', ' ')}`"


def listed(names: Iterable[str]) -> str:
    """Return names in a sentence: "a, b and c"; a long list is cut, with the number of further names."""
    names = list(dict.fromkeys(names))
    if len(names) > _MOST_NAMES:
        more = len(names) - _MOST_NAMES + 1
        names = [*names[: _MOST_NAMES - 1], f"{more} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def listed_lines(lines: Iterable[int]) -> str:
    """Return numbers of lines in a sentence: "line 7", "lines 6 and 7"."""
    names = list(dict.fromkeys(map(str, lines)))
    return f"line{'s' * (len(names) > 1)} {listed(names)}"


def percent(share: float) -> str:
    """Return a share as the page shows shares: "13 %" for 0.125. Halves are rounded up."""
    return f"{math.floor(100 * share + 0.5)} %"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: "1 byte", "16,384 bytes"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
