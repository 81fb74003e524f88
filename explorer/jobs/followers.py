"""The followers of a job: the submitters, and the readers of its event stream.

The followers of a job of another process are also in the database, which counts them for all servers.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from explorer.errors import StoreError
from explorer.store.followers import FollowerTable

_log = logging.getLogger(__name__)


class Followers:
    """The followers of one job, by name."""

    def __init__(self) -> None:
        #: How many event streams each follower reads.
        self._followers: dict[str, int] = {}
        #: The followers who have polled the job since their last event stream began.
        self._polling: set[str] = set()
        self._changing = threading.Lock()

    def __len__(self) -> int:
        return len(self._followers)

    def __contains__(self, follower: str) -> bool:
        return follower in self._followers

    def join(self, follower: str) -> None:
        """Add a follower, who remains one until it leaves, or ends the last of its event streams."""
        with self._changing:
            self._followers.setdefault(follower, 0)

    def poll(self, follower: str) -> None:
        """Add a follower, who remains one until it leaves, or ends a later event stream."""
        with self._changing:
            self._followers.setdefault(follower, 0)
            self._polling.add(follower)

    def leave(self, follower: str) -> int:
        """Remove a follower and return the number of remaining followers."""
        with self._changing:
            self._followers.pop(follower, None)
            self._polling.discard(follower)
            return len(self._followers)

    def begin_stream(self, follower: str) -> None:
        """Note that a follower begins to read an event stream."""
        with self._changing:
            self._followers[follower] = self._followers.get(follower, 0) + 1
            self._polling.discard(follower)

    def end_stream(self, follower: str) -> bool:
        """Note that a follower has ended an event stream. Return whether it has ceased to follow."""
        with self._changing:
            streams = self._followers.get(follower, 0)
            if streams > 1 or follower in self._polling:
                self._followers[follower] = max(streams - 1, 0)
            else:
                self._followers.pop(follower, None)
            return follower not in self._followers


class SharedFollowers(Followers):
    """The followers on this server of a job that another process does.

    A follower that the database does not accept is noted on this server only. `end_later` ends the last
    stream of a follower in the database, by its name: the event loop, which ends streams, does not wait for
    that.
    """

    def __init__(self, record_id: str, table: FollowerTable, end_later: Callable[[str], None]) -> None:
        super().__init__()
        self._record_id = record_id
        self._table = table
        self._end_later = end_later

    def join(self, follower: str) -> None:
        super().join(follower)
        with _logged():
            self._table.join(self._record_id, follower)

    def poll(self, follower: str) -> None:
        """Add a follower, who polls the job."""
        super().poll(follower)
        with _logged():
            self._table.join(self._record_id, follower)

    def leave(self, follower: str) -> int:
        """Remove a follower, and return the number of remaining followers on all servers.

        Raises:
            StoreError: the database cannot be used.
        """
        return max(super().leave(follower), self._table.leave(self._record_id, follower))

    def begin_stream(self, follower: str) -> None:
        """Note that a follower begins to read an event stream."""
        super().begin_stream(follower)
        with _logged():
            self._table.begin_stream(self._record_id, follower)

    def end_stream(self, follower: str) -> bool:
        """Note that a follower has ended an event stream. Return whether it has ceased to follow here."""
        is_last = super().end_stream(follower)
        if is_last:
            self._end_later(follower)
        return is_last


@contextmanager
def _logged() -> Iterator[None]:
    """Log a failure of the database, without which the job can still be followed."""
    try:
        yield
    except StoreError as error:
        _log.warning("A follower is not known to other servers: %s", error.detail)
