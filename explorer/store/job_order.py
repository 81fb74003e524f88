"""The order in which waiting jobs start. The queue of one process and the jobs of workers have the same.

The most urgent jobs come first; a job that has waited for 30 seconds is as urgent as possible. Of the jobs of
one urgency, a job of the client with the fewest running jobs is next. Of several such clients, the next is
the client whose last turn is the longest ago. Jobs of one client and one urgency keep their order.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

#: After this time, later jobs of a higher urgency do not overtake a waiting job.
LONGEST_OVERTAKING_SECONDS = 30.0
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Waiting(Generic[Item]):
    """A waiting job. The least `urgency` is the most urgent. `submitted` is in seconds, by any clock."""

    item: Item
    client: str
    urgency: int
    submitted: float

    def is_old(self, now: float) -> bool:
        """Return whether the job has waited for so long that it is as urgent as possible."""
        return now - self.submitted > LONGEST_OVERTAKING_SECONDS


def in_order(
    waiting: Iterable[Waiting[Item]], running: Mapping[str, int], turns: Mapping[str, float], now: float
) -> list[Waiting[Item]]:
    """Return waiting jobs in the order in which they start if no other job comes, and none ends.

    `running` has the number of running jobs of each client, `turns` the time or number of its last turn.
    """
    lines: dict[tuple[int, str], deque[Waiting[Item]]] = {}
    for job in sorted(waiting, key=lambda job: job.submitted):
        lines.setdefault((0 if job.is_old(now) else job.urgency, job.client), deque()).append(job)
    counts, last_turns = Counter(running), dict(turns)
    latest = max(last_turns.values(), default=0.0)

    def rank(line: tuple[int, str]) -> tuple[float, ...]:
        urgency, client = line
        return urgency, counts[client], last_turns.get(client, 0.0), lines[line][0].submitted

    ordered = []
    while lines:
        following = min(lines, key=rank)
        ordered.append(lines[following].popleft())
        if not lines[following]:
            del lines[following]
        counts[following[1]] += 1
        latest += 1.0
        last_turns[following[1]] = latest
    return ordered


def may_use_reserve(job: Waiting[Item], running: Mapping[str, int]) -> bool:
    """Return whether a job may start in the reserve, beside jobs in all other slots.

    The reserve is for clients that have no running job: a client that occupies all slots delays no other
    client. It is not for jobs that typing or a batch has started, so these never delay a job that a user
    started with a button.
    """
    return job.urgency == 0 and not running.get(job.client, 0)
