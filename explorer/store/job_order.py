"""The order in which waiting jobs start. The queue of one process and the jobs of workers have the same.

The most urgent jobs come first; a job that has waited for 30 seconds is as urgent as possible. Of the jobs of
one urgency, a job of the client with the fewest running jobs is next. Of several such clients, the next is
the client whose last turn is the longest ago. The jobs of one client keep their order.
"""

from __future__ import annotations

from collections import Counter
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


def in_order(
    waiting: Iterable[Waiting[Item]], running: Mapping[str, int], turns: Mapping[str, float], now: float
) -> list[Waiting[Item]]:
    """Return waiting jobs in the order in which they start if no other job comes.

    `running` has the number of running jobs of each client, `turns` the time or number of its last turn.
    """
    places: Counter[tuple[str, int]] = Counter()
    ranks = []
    for number, job in enumerate(sorted(waiting, key=lambda job: job.submitted)):
        is_old = now - job.submitted > LONGEST_OVERTAKING_SECONDS
        urgency = 0 if is_old else job.urgency
        place = places[job.client, urgency] = places[job.client, urgency] + 1
        turn = running.get(job.client, 0) + place
        ranks.append((urgency, turn, turns.get(job.client, 0), number, job))
    return [job for *_, job in sorted(ranks, key=lambda rank: rank[:-1])]


def may_use_reserve(job: Waiting[Item], running: Mapping[str, int]) -> bool:
    """Return whether a job may start in the reserve, beside jobs in all other slots.

    The reserve is for clients that have no running job: a client that occupies all slots delays no other
    client. It is not for jobs that typing or a batch has started, so these never delay a job that a user
    started with a button.
    """
    return job.urgency == 0 and not running.get(job.client, 0)
