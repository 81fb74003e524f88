"""The contents of a store: numbers and lengths of results and texts, by kind, age and client."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import select

from explorer.store.blob_compression import decompress
from explorer.store.blob_store import BlobStore
from explorer.store.database import Database
from explorer.store.tables import CompilationRow, UsageRow

_LARGEST = 10
_ROWS_AT_ONCE = 500
#: The upper limits of the groups by age, in days since the last use.
_AGES = {"day": 1, "week": 7, "month": 30, "year": 365}
_OLDER = "older"


class _Task(msgspec.Struct):
    """The part of a request that names its task."""

    task: str = "compile"


@dataclass
class Group:
    """Some requests with their results. Texts that results share count for each of them."""

    requests: int = 0
    results: int = 0
    bytes: int = 0

    def add(self, size: int, *, has_result: bool) -> None:
        """Count a request."""
        self.requests += 1
        self.results += has_result
        self.bytes += size


@dataclass
class Large:
    """A large result. `used` is when it was last opened, `client` is its submitter."""

    id: str
    task: str
    target: str
    client: str
    used: datetime
    bytes: int


@dataclass
class Statistics:
    """The contents of a store. Texts that results share count once in `text_bytes`.

    `by_age` counts the time since a result was last opened, up to a day, week, month or year.
    """

    texts: int = 0
    text_bytes: int = 0
    all: Group = field(default_factory=Group)
    by_task: dict[str, Group] = field(default_factory=dict)
    by_status: dict[str, Group] = field(default_factory=dict)
    by_age: dict[str, Group] = field(default_factory=lambda: {age: Group() for age in (*_AGES, _OLDER)})
    by_client: dict[str, Group] = field(default_factory=dict)
    largest: list[Large] = field(default_factory=list)


def gather(database: Database, blobs: BlobStore) -> Statistics:
    """Count the contents of a store. This function reads all rows, and a list of all texts.

    Raises:
        StoreError: the store cannot be read.
    """
    statistics, now = Statistics(), database.now()
    for _, size in blobs.sizes():
        statistics.texts += 1
        statistics.text_bytes += size
    row, usage = CompilationRow, UsageRow
    columns = (row.id, row.target, row.status, row.journal, row.request)
    columns_of_usage = (usage.client, usage.used, usage.request_bytes, usage.result_bytes)
    query = select(*columns, *columns_of_usage).join(usage, usage.id == row.id)
    with database.reading(in_transaction=True) as session:
        for found in session.execute(query.execution_options(yield_per=_ROWS_AT_ONCE)):
            _add(statistics, found, now)
    statistics.by_client = _by_size(statistics.by_client, lambda group: group.bytes)
    return statistics


def _add(statistics: Statistics, found: Any, now: datetime) -> None:
    task = msgspec.json.decode(decompress(found.request), type=_Task).task
    size, days = found.request_bytes + found.result_bytes, (now - found.used).days
    age = next((name for name, most in _AGES.items() if days < most), _OLDER)
    for group in (
        statistics.all,
        statistics.by_task.setdefault(task, Group()),
        statistics.by_status.setdefault(found.status, Group()),
        statistics.by_age[age],
        statistics.by_client.setdefault(found.client, Group()),
    ):
        group.add(size, has_result=found.journal is not None)
    large = Large(found.id, task, found.target, found.client, found.used, size)
    statistics.largest = _largest([*statistics.largest, large])


def _largest(results: Iterable[Large]) -> list[Large]:
    return sorted(results, key=lambda each: each.bytes, reverse=True)[:_LARGEST]


def _by_size(groups: dict[str, Group], size: Callable[[Group], int]) -> dict[str, Group]:
    return dict(sorted(groups.items(), key=lambda item: size(item[1]), reverse=True))
