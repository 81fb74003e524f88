"""The contents of a store: numbers and lengths of results and texts, by kind, age and client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Select, select

from explorer.store.blob_compression import decompress
from explorer.store.blob_store import BlobStore
from explorer.store.database import Database
from explorer.store.tables import CollectionRow, CompilationRow, UsageRow

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
    for large, status, has_result in _requests(database):
        days = (now - large.used).days
        age = next((name for name, most in _AGES.items() if days < most), _OLDER)
        for group in (
            statistics.all,
            statistics.by_task.setdefault(large.task, Group()),
            statistics.by_status.setdefault(status, Group()),
            statistics.by_age[age],
            statistics.by_client.setdefault(large.client, Group()),
        ):
            group.add(large.bytes, has_result=has_result)
        statistics.largest = _largest([*statistics.largest, large])
    statistics.by_client = _by_size(statistics.by_client, lambda group: group.bytes)
    return statistics


def _requests(database: Database) -> Iterator[tuple[Large, str, bool]]:
    """Yield each request or collection, its status, and whether it has a result."""
    row, collection, usage = CompilationRow, CollectionRow, UsageRow
    size = (usage.request_bytes + usage.result_bytes).label("size")
    requests = select(
        row.target, row.status, row.journal, row.request, row.id, usage.client, usage.used, size
    )
    collections = select(collection.kind, collection.id, usage.client, usage.used, size)
    with database.reading(in_transaction=True) as session:
        found: Any
        for found in session.execute(_with_usage(requests, row)):
            task = msgspec.json.decode(decompress(found.request), type=_Task).task
            large = Large(found.id, task, found.target, found.client, found.used, found.size)
            yield large, found.status, found.journal is not None
        for found in session.execute(_with_usage(collections, collection)):
            yield Large(found.id, found.kind, "", found.client, found.used, found.size), "complete", True


def _with_usage(
    query: Select[*tuple[Any, ...]], table: type[CompilationRow | CollectionRow]
) -> Select[*tuple[Any, ...]]:
    return query.join(UsageRow, UsageRow.id == table.id).execution_options(yield_per=_ROWS_AT_ONCE)


def _largest(results: Iterable[Large]) -> list[Large]:
    return sorted(results, key=lambda each: each.bytes, reverse=True)[:_LARGEST]


def _by_size(groups: dict[str, Group], size: Callable[[Group], int]) -> dict[str, Group]:
    return dict(sorted(groups.items(), key=lambda item: size(item[1]), reverse=True))
