"""The input of a hint, and the construction of its document.

A hint that advises a different configuration names the change (`tried.py`). If the run or a sibling has timed
the configurations, the times decide: the hint is shown with the faster configuration as evidence, or not at
all.
"""

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
from explorer.analysis.roofline.hints.tried import Change, best_change, describe
from explorer.analysis.roofline.work import tensor_bytes
from explorer.model.measurements import Level


@dataclass(frozen=True)
class Case:
    """A kernel with the other parts of its roofline. `floor` is the floor that the verdict uses."""

    facts: Facts
    floor: Floor | None
    resources: Sequence[Resource]
    traffic: Sequence[Traffic]
    operations: Sequence[Operations]
    losses: Sequence[Loss]

    @property
    def binding(self) -> str:
        """The resource that needs the longest time; "" if unknown."""
        return self.floor.binding if self.floor else ""

    @property
    def share(self) -> float | None:
        """The floor divided by the measured time; None without a time."""
        return self.floor.share if self.floor else None

    @property
    def most_gain_ns(self) -> float | None:
        """The most time that another configuration can save: the time that the operations and the tensors do
        not need.

        Other configurations change the traffic of caches, the instructions and the waiting, but they compute
        the same, and each tensor is read and written.
        """
        if not self.facts.time_ns:
            return None
        needs = [self.need_ns(each.name) or 0.0 for each in self.operations]
        dram, moved, held = self.need_ns("dram"), self.bytes("dram"), tensor_bytes(self.facts)
        if dram and moved:
            needs.append(dram * min(1.0, held / moved) if held else 0.0)
        return max(0.0, self.facts.time_ns - max(needs, default=0.0))

    @property
    def fills_gpu(self) -> bool:
        """Whether each multiprocessor has a block. Otherwise the hint about the grid comes first."""
        return self.facts.blocks >= self.facts.hardware.multiprocessors

    @property
    def memory_share(self) -> float | None:
        """The share of the time that memory needs at least; None without a time or without its bytes."""
        need = max((self.need_ns(name) or 0.0 for name in ("dram", "l2")), default=0.0)
        return need / self.facts.time_ns if need and self.facts.time_ns else None

    def stalled(self, *reasons: str) -> float:
        """Return the share of the samples with one of these stall reasons."""
        return sum(self.facts.stall_shares.get(reason, 0.0) for reason in reasons)

    def bytes(self, level: Level) -> float | None:
        return next((each.bytes.value for each in self.traffic if each.level == level and each.bytes), None)

    def need_ns(self, name: str) -> float | None:
        """Return the shortest time of a resource, by the measured ceiling if there is one."""
        row = next((each for each in self.resources if each.name == name), None)
        if row is None or not row.needs:
            return None
        return next(
            (need.time_ns for need in reversed(row.needs) if need.source == "measured"), row.needs[0].time_ns
        )

    def next_need_ns(self, *besides: str) -> float:
        """Return the longest need of all resources except the named resources."""
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
        *,
        cost: str,
        change: Change | None = None,
    ) -> Hint | None:
        """Make the document; return None without evidence or a gain, or if measured times contradict it.

        `change` is the change of the configuration that the hint advises.
        """
        if not evidence or not all(math.isfinite(each.value) for each in evidence):
            return None
        tried = best_change(self.facts.autotuning, self.facts.config, change) if change else None
        if tried and not tried.is_faster:
            return None
        if tried:
            now, best = f"configuration {tried.now.config}", f"configuration {tried.best.config}"
            evidence = [
                *evidence,
                Evidence(f"time of this {now}", tried.now_ns, "ns", "measured"),
                Evidence(f"time of {best} ({describe(tried.best)})", tried.best_ns, "ns", "measured"),
            ]
        time = self.facts.time_ns
        gain = None if gain_ns is None or time is None else min(max(gain_ns, 0.0), time)
        if gain is not None and time and gain < _WORTH * time:
            return None
        return Hint(
            name,
            title,
            text,
            cost,
            evidence,
            max(source_line, 0),
            gain,
            gain / time if gain is not None and time else None,
        )


#: Hints with a smaller possible gain, as a share of the time, are not shown.
_WORTH = 0.01
