"""A measured figure and its limit."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row of the table. `asked` is the limit: a maximum, or a minimum if `is_least`."""

    what: str
    measured: float
    unit: str
    asked: float | None = None
    is_least: bool = False
    note: str = ""

    @property
    def is_met(self) -> bool | None:
        if self.asked is None:
            return None
        return self.measured >= self.asked if self.is_least else self.measured <= self.asked

    def __str__(self) -> str:
        asked = "" if self.asked is None else f"{'≥' if self.is_least else '≤'} {self.asked:g}"
        verdict = {None: "", True: "met", False: "MISSED"}[self.is_met]
        digits = 2 if self.unit == "s" else 1
        return f"{self.what:58} {asked:>8} {self.measured:9.{digits}f} {self.unit:5} {verdict:6} {self.note}"


def per_second(intervals_ms: list[float]) -> float:
    """Return the frames per second for the given intervals between frames."""
    return 1000 / statistics.mean(intervals_ms)
