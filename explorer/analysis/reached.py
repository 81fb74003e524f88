"""The names that a graph of names leads to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def reached(starts: Iterable[str], steps: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the names `starts` and all that steps lead to; `steps` has the names after one step."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        more = set(steps.get(waiting.pop(), ())) - found
        found |= more
        waiting += more
    return found
