"""Calls a function for many items in a few threads: an S3 store answers many requests at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

_THREADS = 16


def in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
    """Yield each item with its result, in their order. The results of a few items are in memory at once."""
    remaining = iter(items)
    with ThreadPoolExecutor(_THREADS) as threads:
        while some := list(islice(remaining, _THREADS)):
            yield from zip(some, threads.map(function, some), strict=True)
