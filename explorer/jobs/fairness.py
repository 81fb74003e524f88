"""Limits for each client, and the division of shared resources among clients: queue places and slots."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from explorer.errors import ExplorerError, QueueFull, TooManyRequests
from explorer.jobs.caller import Caller, Urgency

Item = TypeVar("Item")
#: The number of more urgent items that start in a row while a less urgent item waits.
_MOST_OVERTAKING = 4
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
        """Give back a place."""
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
    """The items that wait for a slot, and the number of running items. The owner locks it for use in threads.

    More urgent items come first, but at most four of them in a row overtake a waiting item of a less urgent
    class. Within a class, the client with the fewest running items is next. Of several such clients, the next
    is the client whose last turn is the longest ago. `slots` items run at the same time, and up to `reserve`
    more of clients that have none running: a client that occupies all slots delays no other client. Live
    items do not use the reserve, so they never delay a job that a user started with a button.
    """

    def __init__(self, slots: int, reserve: int = 0) -> None:
        self._slots = slots
        self._reserve = reserve
        #: By urgency and by client.
        self._lines: dict[Urgency, dict[str, deque[Item]]] = {urgency: {} for urgency in Urgency}
        self._running: Counter[str] = Counter()
        self._turns: Counter[str] = Counter()
        self._turn = 0
        #: How many items in a row have overtaken the items of a class.
        self._overtaking: Counter[Urgency] = Counter()

    def __len__(self) -> int:
        return sum(len(line) for lines in self._lines.values() for line in lines.values())

    def __iter__(self) -> Iterator[Item]:
        """Yield the waiting items, in any order."""
        return (item for lines in self._lines.values() for line in lines.values() for item in line)

    @property
    def running(self) -> int:
        """The number of running items."""
        return self._running.total()

    def put(self, item: Item, caller: Caller) -> None:
        """Let an item wait."""
        self._lines[caller.urgency].setdefault(caller.client, deque()).append(item)

    def remove(self, item: Item, caller: Caller) -> bool:
        """Remove an item. Return False if it does not wait."""
        lines = self._lines[caller.urgency]
        if item not in (line := lines.get(caller.client, deque())):
            return False
        line.remove(item)
        self._forget_idle(caller.client)
        return True

    def take(self) -> Item | None:
        """Take the next item, which then runs; None if nothing can run."""
        running = self._running.total()
        if running >= self._slots + self._reserve:
            return None
        return self._take(needs_idle=running >= self._slots)

    def running_of(self, client: str) -> int:
        """Count the items of a client that run."""
        return self._running[client]

    def done(self, client: str) -> None:
        """Note that an item of a client has ended."""
        self._running[client] -= 1
        self._forget_idle(client)

    def order(self) -> list[Item]:
        """Return the waiting items, in the order in which they will start if nothing else is put."""
        copy: FairQueue[Item] = FairQueue(self._slots)
        copy._lines = {
            urgency: {client: line.copy() for client, line in lines.items()}
            for urgency, lines in self._lines.items()
        }
        copy._running, copy._turns = self._running.copy(), self._turns.copy()
        copy._turn, copy._overtaking = self._turn, self._overtaking.copy()
        items = []
        while (item := copy._take(needs_idle=False)) is not None:
            items.append(item)
        return items

    def _take(self, *, needs_idle: bool) -> Item | None:
        """Take the next item. With `needs_idle`, only of a client that has none running."""
        # A class that was overtaken too often comes first: the sort keeps the order of the other classes.
        for urgency in sorted(Urgency, key=lambda each: self._overtaking[each] < _MOST_OVERTAKING):
            if needs_idle and urgency is Urgency.LIVE:
                continue
            lines = self._lines[urgency]
            clients = [each for each in lines if not (needs_idle and self._running[each])]
            if not clients:
                continue
            client = min(clients, key=lambda each: (self._running[each], self._turns[each]))
            item = lines[client].popleft()
            self._overtaking[urgency] = 0
            for each in Urgency:
                if each > urgency:
                    self._overtaking[each] = self._overtaking[each] + 1 if self._lines[each] else 0
            self._turn += 1
            self._turns[client] = self._turn
            self._running[client] += 1
            self._forget_idle(client)
            return item
        return None

    def _forget_idle(self, client: str) -> None:
        """Forget a client without waiting and running items."""
        for lines in self._lines.values():
            if client in lines and not lines[client]:
                del lines[client]
        if not self._running[client]:
            del self._running[client]
            if not any(client in lines for lines in self._lines.values()):
                del self._turns[client]


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
                if not self._waiting.remove(mine, caller):  # its turn has come meanwhile
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
