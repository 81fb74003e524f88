"""The event log of a job, in the memory of one process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

from explorer.store import Entry


class EventLog:
    """The entries of one job, in order. One thread publishes, any number of threads follow."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._is_closed = False
        self._changed = threading.Condition()
        self._listeners: dict[object, Callable[[], None]] = {}
        self._followers = 0

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> EventLog:
        """Return a closed log."""
        log = cls()
        log._entries.extend(entries)
        log._is_closed = True
        return log

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    @property
    def is_followed(self) -> bool:
        """Whether a follower or a listener is attached to the log."""
        return bool(self._followers or self._listeners)

    def publish(self, *entries: Entry) -> None:
        """Append entries as a single change."""
        if not entries:
            return
        with self._changed:
            self._entries.extend(entries)
            self._notify()

    def close(self) -> None:
        """End the log: followers end after the last entry."""
        with self._changed:
            self._is_closed = True
            self._notify()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change until the returned function is called.

        `listener` is called in any thread and must return at once.
        """
        key = object()
        with self._changed:
            self._listeners[key] = listener

        def end() -> None:
            with self._changed:
                self._listeners.pop(key, None)

        return end

    def _notify(self) -> None:
        self._changed.notify_all()
        for listener in self._listeners.values():
            listener()

    def entries(self) -> tuple[Entry, ...]:
        with self._changed:
            return tuple(self._entries)

    def follow(self, skip: int, heartbeat_seconds: float) -> Iterator[Entry | None]:
        """Yield all entries but the first `skip`, as they come.

        None is yielded when there is no new entry for `heartbeat_seconds`.
        """
        with self._changed:
            self._followers += 1
        try:
            while True:
                with self._changed:
                    if len(self._entries) <= skip and not self._is_closed:
                        self._changed.wait(heartbeat_seconds)
                    entries, is_closed = self._entries[skip:], self._is_closed
                if not entries and not is_closed:
                    yield None
                yield from entries
                skip += len(entries)
                if is_closed:
                    return
        finally:
            with self._changed:
                self._followers -= 1
