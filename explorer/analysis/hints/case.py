"""What a hint looks at, and how it says what it has found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.analysis.roofline.documents import (
    Evidence,
    Floor,
    Hint,
    Loss,
    Operations,
    Resource,
    Traffic,
)
from explorer.analysis.roofline.facts import Facts
from explorer.measurements import Level


@dataclass(frozen=True)
class Case:
    """A kernel with all that was worked out of it. `floor` is the one to judge by."""

    facts: Facts
    floor: Floor | None
    resources: Sequence[Resource]
    traffic: Sequence[Traffic]
    operations: Sequence[Operations]
    losses: Sequence[Loss]

    @property
    def binding(self) -> str:
        """The resource that needs longest; "" where none is known."""
        return self.floor.binding if self.floor else ""

    @property
    def share(self) -> float | None:
        """How much of the speed of light is achieved; None without a time."""
        return self.floor.share if self.floor else None

    @property
    def room_ns(self) -> float | None:
        """How much time neither the floor nor a busy pipe takes: what less waiting can bring at most."""
        time = self.facts.time_ns
        if not time or not self.floor:
            return None
        busy = max((row.work.value for row in self.resources if row.unit == "%"), default=0.0)
        return max(0.0, time - max(self.floor.time_ns, busy * time))

    def bytes(self, level: Level) -> float | None:
        return next((each.bytes.value for each in self.traffic if each.level == level and each.bytes), None)

    def need_ns(self, name: str) -> float | None:
        """How long a resource needs at least, by the ceiling to judge by."""
        row = next((each for each in self.resources if each.name == name), None)
        if row is None or not row.needs:
            return None
        return next(
            (need.time_ns for need in reversed(row.needs) if need.source == "measured"), row.needs[0].time_ns
        )

    def next_need_ns(self, *besides: str) -> float:
        """The longest need of all resources but these."""
        needs = (self.need_ns(row.name) for row in self.resources if row.name not in besides)
        return max((need for need in needs if need), default=0.0)

    def hint(
        self,
        name: str,
        title: str,
        text: str,
        evidence: list[Evidence],
        source_line: int = 0,
        gain_ns: float | None = None,
    ) -> Hint | None:
        """Say it; None without evidence, or where it would bring nothing."""
        if not evidence or not all(math.isfinite(each.value) for each in evidence):
            return None
        time = self.facts.time_ns
        gain = None if gain_ns is None or time is None else min(max(gain_ns, 0.0), time)
        if gain is not None and time and gain < _WORTH * time:
            return None
        return Hint(
            name,
            title,
            text,
            evidence,
            max(source_line, 0),
            gain,
            gain / time if gain is not None and time else None,
        )


#: Who gains less than this share of the time need not be told.
_WORTH = 0.01
