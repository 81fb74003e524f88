"""One job in flight: its entries as they come, and those who listen to them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime

from explorer.model import Done, Request
from explorer.store import Entry, Record, Status
from explorer.store.blobs import Address


class Job:
    """A request that waits or runs.

    The worker publishes; any number of threads follow. A follower that comes late gets all entries
    from the first on. That nobody follows any more does not stop a job: its result is kept.
    """

    def __init__(
        self, job_id: str, request: Request, created: datetime, read: Callable[[Address], bytes]
    ) -> None:
        self.id = job_id
        self.request = request
        self.created = created
        self.submitted_at = time.monotonic()
        self.cancelled = threading.Event()
        self.read = read
        self._entries: list[Entry] = []
        self._status: Status = "queued"
        self._is_over = False
        self._changed = threading.Condition()

    def begin(self) -> None:
        """Say that the sandbox works on it now."""
        with self._changed:
            self._status = "running"

    def publish(self, entry: Entry) -> None:
        """Let all followers have an entry."""
        with self._changed:
            self._entries.append(entry)
            self._changed.notify_all()

    def finish(self, done: Done | None) -> None:
        """Publish the last entry and let all followers go. Without one, the job was given up."""
        with self._changed:
            if done is None:
                self._status = "queued"
            else:
                self._entries.append(done)
                self._status = done.status
            self._is_over = True
            self._changed.notify_all()

    def record(self) -> Record:
        """The job at this moment."""
        with self._changed:
            return Record(
                self.id,
                self.request,
                self.created,
                self._status,
                tuple(self._entries),
                False,
                None,
                self.read,
            )

    def wait(self) -> Record:
        """Wait until the job is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over)
        return self.record()

    def follow(self, skip: int, heartbeat_seconds: float) -> Iterator[Entry | None]:
        """All entries but the first `skip`, as they come; None where nothing came for a while."""
        while True:
            with self._changed:
                if len(self._entries) <= skip and not self._is_over:
                    self._changed.wait(heartbeat_seconds)
                entries, is_over = self._entries[skip:], self._is_over
            if not entries and not is_over:
                yield None
            yield from entries
            skip += len(entries)
            if is_over:
                return
