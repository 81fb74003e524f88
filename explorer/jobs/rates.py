"""Limits for each client over time: how much work it may cause in a minute.

In: the limits, and the work that a caller is about to cause. Out: nothing, or a refusal with the time until a
retry succeeds. Only work counts: a stored result costs a client nothing. The counters are in memory, or in a
Redis that several servers share. While Redis does not answer, each server counts in its own memory.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal

from explorer.errors import SettingsError, TooManyRequests
from explorer.jobs.caller import current_caller
from explorer.model import Request

if TYPE_CHECKING:
    from limits import RateLimitItem
    from limits.storage import RedisStorage
    from limits.strategies import FixedWindowRateLimiter

#: The kinds of limited work. "queries" includes inspections; "bytes" are the bytes of request bodies.
Work = Literal["compilations", "runs", "exports", "queries", "bytes"]

_NOUNS: dict[Work, str] = {
    "compilations": "compilations",
    "runs": "runs",
    "exports": "exports",
    "queries": "inspections and queries",
    "bytes": "bytes of requests",
}
WORKS = tuple(_NOUNS)
#: The kind of work that a job of each task counts as. The jobs of a query count with the query.
_WORK_OF_TASK: dict[str, Work] = {
    "compile": "compilations",
    "llvm-passes": "compilations",
    "captured": "compilations",
    "run": "runs",
    "inspect": "queries",
}
_WINDOW_SECONDS = 60
_REDIS_SCHEMES = ("redis://", "rediss://", "unix://")
#: How long a thread waits for Redis.
_REDIS_SECONDS = 0.5
#: How long Redis is not used after a failure.
_PAUSE_SECONDS = 10.0
_log = logging.getLogger(__name__)


class Count:
    """A job that is counted for a client while it is unknown whether the job is new and accepted."""

    def __init__(self, refusal: TooManyRequests | None = None) -> None:
        self._refusal = refusal
        self.is_kept = False

    def keep(self) -> None:
        """Keep the count.

        Raises:
            TooManyRequests: the job exceeds the limit. `retry_after_seconds` is the time until a retry
                    succeeds.
        """
        if self._refusal is not None:
            raise self._refusal
        self.is_kept = True


class Rates:
    """Counts the work of each client in windows that begin with its first work. Safe to use from threads.

    `limits` has the most work of each kind in a window of `window_seconds`; 0, or no entry, is no limit.
    `redis_url` names the Redis of the counters; "" keeps the counters in this process.

    Raises:
        SettingsError: the URL is invalid, or the client of Redis is not installed.
    """

    def __init__(
        self, limits: Mapping[Work, int], redis_url: str = "", window_seconds: int = _WINDOW_SECONDS
    ) -> None:
        self._items: dict[Work, RateLimitItem] = {}
        self._shared: FixedWindowRateLimiter | None = None
        self._next_try = 0.0
        self._is_shared = True
        self._changing = threading.Lock()
        limited = {work: most for work, most in limits.items() if most}
        if not limited:
            return
        from limits import RateLimitItemPerSecond  # the library is slow to import
        from limits.errors import StorageError
        from limits.storage import MemoryStorage
        from limits.strategies import FixedWindowRateLimiter

        self._items = {
            work: RateLimitItemPerSecond(most, window_seconds, namespace=f"triton-explorer:{work}")
            for work, most in limited.items()
        }
        self._failure = StorageError
        self._own = FixedWindowRateLimiter(MemoryStorage())
        if redis_url:
            self._shared = FixedWindowRateLimiter(_open_redis(redis_url))

    @contextmanager
    def counting(self, request: Request) -> Iterator[Count]:
        """Count a job for the caller of this thread. The count is given back unless the block keeps it.

        This method waits for Redis before and after the block, so the block may hold locks.
        """
        work, client = _WORK_OF_TASK.get(request.task), current_caller().client
        item = None if work is None else self._items.get(work)
        if work is None or item is None or not client:
            yield Count()
            return
        limiter, wait_seconds = self._hit(item, client, 1)
        count = Count(None if wait_seconds is None else _refusal(work, item, wait_seconds))
        try:
            yield count
        finally:
            if not count.is_kept:
                with suppress(self._failure):  # the end of the window drops the count
                    limiter.storage.incr(item.key_for(client), item.get_expiry(), amount=-1)

    def count(self, work: Work, amount: int = 1) -> None:
        """Count work that the caller of this thread is about to cause. The server's own work has no limit.

        Raises:
            TooManyRequests: the work exceeds the limit. `retry_after_seconds` is the time until a retry
                succeeds.
        """
        item, client = self._items.get(work), current_caller().client
        if item is None or not client:
            return
        _, wait_seconds = self._hit(item, client, amount)
        if wait_seconds is not None:
            raise _refusal(work, item, wait_seconds)

    def _hit(
        self, item: RateLimitItem, client: str, amount: int
    ) -> tuple[FixedWindowRateLimiter, int | None]:
        """Count work in Redis if it answers, and otherwise here. Return where, and the seconds to wait."""
        shared = self._shared
        if shared is not None and (self._is_shared or time.monotonic() >= self._next_try):
            try:
                found = _count(shared, item, client, amount)
            except self._failure as error:
                self._note(is_shared=False, reason=str(error.storage_error))
            else:
                self._note(is_shared=True)
                return shared, found
        return self._own, _count(self._own, item, client, amount)

    def _note(self, *, is_shared: bool, reason: str = "") -> None:
        """Note whether Redis has answered, and log each change."""
        with self._changing:
            if not is_shared:
                self._next_try = time.monotonic() + _PAUSE_SECONDS
            if is_shared == self._is_shared:
                return
            self._is_shared = is_shared
        if is_shared:
            _log.warning("Redis answers again: the limits for each client are shared.")
        else:
            _log.warning("Redis does not answer. This server counts the limits of clients alone: %s", reason)


def _count(limiter: FixedWindowRateLimiter, item: RateLimitItem, client: str, amount: int) -> int | None:
    """Count work. If it exceeds the limit, return the seconds after which the window is over.

    Redis rounds the time to whole seconds, so one second is added.
    """
    if limiter.hit(item, client, cost=amount):
        return None
    return max(round(limiter.get_window_stats(item, client).reset_time - time.time()), 0) + 1


def _refusal(work: Work, item: RateLimitItem, wait_seconds: int) -> TooManyRequests:
    return TooManyRequests(
        f"This client has used up its {item.amount:,} {_NOUNS[work]} for now. "
        f"Try again in {wait_seconds} seconds.",
        wait_seconds,
    )


def _open_redis(url: str) -> RedisStorage:
    """Return the counters in a Redis. No connection is opened yet.

    Raises:
        SettingsError: the URL is invalid, or the client of Redis is not installed.
    """
    if not url.startswith(_REDIS_SCHEMES):
        raise SettingsError(
            f"TRITON_EXPLORER_LIMITS_URL must begin with {', '.join(_REDIS_SCHEMES)}, got {url!r}."
        )
    try:
        from redis import ConnectionPool
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError as error:
        raise SettingsError(
            "TRITON_EXPLORER_LIMITS_URL is set, but the client of Redis is not installed. "
            "Install triton-explorer[redis]."
        ) from error
    from limits.storage import RedisStorage

    try:
        pool = ConnectionPool.from_url(
            url,
            socket_timeout=_REDIS_SECONDS,
            socket_connect_timeout=_REDIS_SECONDS,
            retry=Retry(NoBackoff(), 1),  # for a connection that Redis has closed meanwhile
        )
        return RedisStorage(url, connection_pool=pool, wrap_exceptions=True)
    except ValueError as error:
        raise SettingsError(f"TRITON_EXPLORER_LIMITS_URL is not the URL of a Redis: {error}.") from error
