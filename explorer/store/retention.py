"""The retention of results: the quotas, and the choice of results to remove.

A removed result leaves its request, so that its address computes it again. Only if that does not free enough
space, requests are removed too. Retained results stay. The least recently used results are removed first. A
live result, which only typing has requested, is removed an hour after its last use. A failed one loses its
request too, because no page has linked to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

#: Results are removed when more than this share of a quota is used.
FULL_SHARE = 0.9
#: The share of a quota that is used after a removal.
_TARGET_SHARE = 0.8
#: The share of a quota that retained results may take.
RETAINED_SHARE = 0.5
#: A live result that was used within this time is kept.
LIVE_TIME = timedelta(hours=1)
#: A younger request may wait in a queue.
_WAITING_TIME = timedelta(hours=1)
_DAY_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Quotas:
    """The limits of a store; 0 is none. `free_bytes` are left free on the disk."""

    total_bytes: int = 0
    client_bytes: int = 0
    keep_days: float = 0.0
    free_bytes: int = 0


@dataclass(frozen=True)
class Usage:
    """The size of a request and its result, and their last use. `client` is "" if it is unknown.

    `live` is the status of a live result, and "" for any other result.
    """

    id: str
    client: str
    used: datetime
    request_bytes: int
    result_bytes: int
    is_retained: bool
    live: str = ""

    @property
    def bytes(self) -> int:
        """The length of both."""
        return self.request_bytes + self.result_bytes


@dataclass(frozen=True)
class Pruned:
    """The numbers of removed results, requests and blobs. `bytes` is the size of the store afterwards."""

    results: int
    requests: int
    blobs: int
    bytes: int


@dataclass(frozen=True)
class Damage:
    """A blob that is missing or damaged. `record_id`: a result that refers to it, or "" if none does."""

    address: str
    record_id: str
    is_missing: bool


@dataclass(frozen=True)
class StoreHealth:
    """The state of a store. `problem` says why nothing can be stored; it is empty otherwise.

    A quota of 0 is none. `requests` counts those stored, as of the last minute.
    """

    problem: str
    free_bytes: int
    used_bytes: int
    quota_bytes: int
    requests: int


@dataclass
class Plan:
    """The removals: the results and the requests with these IDs, and the answers about these results."""

    results: set[str] = field(default_factory=set)
    requests: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.results or self.requests)

    def shrink(
        self, oldest_first: Sequence[Usage], kept: Iterable[Usage], size: int, quota: int, now: datetime
    ) -> None:
        """Add removals until `size` is reduced to the target share of a quota.

        The answers about `kept` results are removed only if the other removals do not suffice: queries can
        compute them again.
        """
        if not quota or size <= FULL_SHARE * quota:
            return
        excess = size - _TARGET_SHARE * quota
        for usage in oldest_first:
            if excess > 0 and usage.result_bytes and usage.id not in self.results:
                self.results.add(usage.id)
                excess -= usage.result_bytes
        for usage in oldest_first:
            if excess > 0 and usage.used < now - _WAITING_TIME and usage.id not in self.requests:
                self.requests.add(usage.id)
                excess -= usage.request_bytes
        if excess > 0:
            self.answers |= {usage.id for usage in kept}

    def rest(self, usages: Iterable[Usage]) -> int:
        """Return the size of results without the removals."""
        return sum(
            (usage.id not in self.requests) * usage.request_bytes
            + (usage.id not in self.results) * usage.result_bytes
            for usage in usages
        )


def choose(
    usages: Iterable[Usage], total_bytes: int, quotas: Quotas, now: datetime, *, with_retained: bool = False
) -> Plan:
    """Choose the removals from a store of `total_bytes`: by age, then by client, then in total.

    Results that share blobs count in full for each of them, and in `total_bytes` once.
    """
    plan = Plan()
    oldest_first = sorted(usages, key=lambda usage: (not usage.live, usage.used))

    def parts(usages: list[Usage]) -> tuple[list[Usage], list[Usage]]:
        """Return the removable and the retained usages."""
        retained = [usage for usage in usages if usage.is_retained and not with_retained]
        return [usage for usage in usages if with_retained or not usage.is_retained], retained

    removable, retained = parts(oldest_first)
    if quotas.keep_days:
        oldest = now.timestamp() - quotas.keep_days * _DAY_SECONDS  # may be before the first date
        plan.results = {
            usage.id for usage in removable if usage.result_bytes and usage.used.timestamp() < oldest
        }
    live = [usage for usage in removable if usage.live and usage.used < now - LIVE_TIME]
    plan.results |= {usage.id for usage in live if usage.result_bytes}
    plan.requests |= {usage.id for usage in live if usage.live == "failed"}
    by_client = sorted(oldest_first, key=lambda usage: usage.client)
    for client, group in groupby(by_client, lambda usage: usage.client):
        own = list(group)
        if client:
            plan.shrink(*parts(own), plan.rest(own), quotas.client_bytes, now)
    removed = sum(usage.bytes for usage in oldest_first) - plan.rest(oldest_first)
    plan.shrink(removable, retained, total_bytes - removed, quotas.total_bytes, now)
    return plan
