"""Limits for each client, and the division of shared resources among clients: queue places and slots."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Generic, TypeVar

from explorer.errors import ExplorerError, QueueFull, TooManyRequests
from explorer.jobs.caller import Caller, Urgency
from explorer.store.job_order import Waiting, in_order, may_use_reserve

Item = TypeVar("Item")
#: The number of clients whose last turn is known.
_MOST_TURNS = 10_000
#: A waiting thread calls the function every `CHECK_SECONDS`; an exception from it ends the wait.
Check = Callable[[], None]
CHECK_SECONDS = 0.2


def do_nothing() -> None:
    """Let the wait continue."""


class CountByClient:
    """Counts the resources that each client holds, up to a limit. Safe to use from many threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    def acquire(self, client: str, amount: int = 1) -> bool:
        """Add `amount` to a client's count, unless this exceeds the limit. Return whether it was added."""
        with self._lock:
            if self._held[client] + amount > self._limit:
                return False
            self._held[client] += amount
            return True

    @property
    def total(self) -> int:
        """The sum over all clients."""
        with self._lock:
            return self._held.total()

    def release(self, client: str, amount: int = 1) -> None:
        """Subtract `amount` from a client's count."""
        with self._lock:
            self._held[client] -= amount
            if not self._held[client]:
                del self._held[client]


class Places:
    """A number of places. Safe to use from many threads.

    A client gets a further place as long as it holds fewer places than are free: a single client gets half of
    the places, and n clients leave 1/(n + 1) of them free. If none is free, a client that holds no place
    still gets one, up to twice the total. `what` is the noun for the places in messages.
    """

    def __init__(self, total: int, what: str) -> None:
        self._total = total
        self._what = what
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, client: str) -> None:
        """Take a place.

        Raises:
            TooManyRequests: the client holds its share.
            QueueFull: no place is free.
        """
        with self._lock:
            if (refusal := self._refusal(client)) is not None:
                raise refusal
            self._held[client] += 1

    def give_back(self, client: str) -> None:
        with self._lock:
            self._held[client] -= 1
            if not self._held[client]:
                del self._held[client]

    @contextmanager
    def place(self, client: str) -> Iterator[None]:
        """Hold a place.

        Raises:
            TooManyRequests, QueueFull: as `take`.
        """
        self.take(client)
        try:
            yield
        finally:
            self.give_back(client)

    def _refusal(self, client: str) -> ExplorerError | None:
        return refusal(client, self._held, self._total, self._what)


def refusal(client: str, places: Counter[str], total: int, what: str) -> ExplorerError | None:
    """Return why a client gets no further place by the rules of `Places`; None if it gets one.

    `places` maps each client to the number of its places.
    """
    held, taken = places[client], places.total()
    if held < total - taken or (held == 0 and taken < 2 * total):
        return None
    if taken >= total:
        return QueueFull(f"{taken} {what} are waiting, which is the limit. Try again in 5 seconds.")
    return TooManyRequests(
        f"{held} {what} of this client are waiting; the other places are for other clients. "
        "Try again in 5 seconds."
    )


class FairQueue(Generic[Item]):
    """The items that wait for a slot, in the order of `job_order`, and the number of running items.

    The owner locks it for use in threads. `slots` items run at the same time, and up to `reserve` more of
    clients that have none running. `clock` returns seconds.
    """

    def __init__(self, slots: int, reserve: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._slots = slots
        self._reserve = reserve
        self._clock = clock
        self._waiting: dict[Item, Waiting[Item]] = {}
        self._running: Counter[str] = Counter()
        #: The numbers of the last turns of clients, the latest last.
        self._turns: dict[str, int] = {}
        self._turn = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[Item]:
        """Yield the waiting items, in any order."""
        return iter(self._waiting)

    @property
    def running(self) -> int:
        return self._running.total()

    def put(self, item: Item, caller: Caller) -> None:
        self._waiting[item] = Waiting(item, caller.client, caller.urgency, self._clock())

    def hurry(self, item: Item, urgency: Urgency) -> None:
        """Raise the urgency of an item to a minimum, if it waits.

        It then waits behind the other items of that urgency, unless it has waited for long.
        """
        waiting, now = self._waiting.get(item), self._clock()
        if waiting is not None and urgency < waiting.urgency:
            submitted = waiting.submitted if waiting.is_old(now) else now
            self._waiting[item] = replace(waiting, urgency=urgency, submitted=submitted)

    def remove(self, item: Item) -> bool:
        """Remove an item. Return False if it does not wait."""
        return self._waiting.pop(item, None) is not None

    def take(self) -> Item | None:
        """Take the next item, which then runs; None if nothing can run."""
        running = self._running.total()
        if running >= self._slots + self._reserve:
            return None
        for job in self._in_order():
            if running < self._slots or may_use_reserve(job, self._running):
                del self._waiting[job.item]
                self._turn += 1
                self._turns.pop(job.client, None)
                self._turns[job.client] = self._turn
                if len(self._turns) > _MOST_TURNS:
                    del self._turns[next(iter(self._turns))]
                self._running[job.client] += 1
                return job.item
        return None

    def running_of(self, client: str) -> int:
        """Count the items of a client that run."""
        return self._running[client]

    def done(self, client: str) -> None:
        """Note that an item of a client has ended."""
        self._running[client] -= 1
        if not self._running[client]:
            del self._running[client]

    def order(self) -> list[Item]:
        """Return the waiting items, in the order in which they will start if nothing else is put."""
        return [job.item for job in self._in_order()]

    def _in_order(self) -> list[Waiting[Item]]:
        return in_order(self._waiting.values(), self._running, self._turns, self._clock())


class Turns:
    """Slots for threads, in the order of a `FairQueue`. Safe to use from many threads."""

    def __init__(self, slots: int, reserve: int = 0) -> None:
        self._waiting: FairQueue[threading.Event] = FairQueue(slots, reserve)
        self._lock = threading.Lock()

    @contextmanager
    def turn(self, caller: Caller, check: Check = do_nothing) -> Iterator[None]:
        """Wait for a slot, and use it. `check` is called meanwhile; its exception ends the wait."""
        mine = threading.Event()
        with self._lock:
            self._waiting.put(mine, caller)
            self._start_next()
        try:
            while not mine.wait(CHECK_SECONDS):
                check()
        except BaseException:
            with self._lock:
                if not self._waiting.remove(mine):  # its turn has come meanwhile
                    self._waiting.done(caller.client)
                    self._start_next()
            raise
        try:
            yield
        finally:
            with self._lock:
                self._waiting.done(caller.client)
                self._start_next()

    def _start_next(self) -> None:
        while (following := self._waiting.take()) is not None:
            following.set()
