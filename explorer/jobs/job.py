"""A job of the local queue: a request that waits or runs, with its event log and its followers."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from datetime import datetime

from explorer.jobs.caller import Caller
from explorer.jobs.event_log import EventLog
from explorer.jobs.fairness import CHECK_SECONDS, Check
from explorer.jobs.followers import Followers
from explorer.model import Done, Request
from explorer.store import BlobBatch, Record, Status


class Job:
    """A request that waits or runs. A job without followers continues: its result is stored.

    `caller` is the caller who started the job, and `batch` takes its texts. The job holds `place` as long as
    it waits. Its request and its result are in the store if `is_stored`.
    """

    def __init__(
        self,
        job_id: str,
        request: Request,
        created: datetime,
        batch: BlobBatch,
        caller: Caller,
        place: ExitStack,
        *,
        is_stored: bool,
    ) -> None:
        self.id = job_id
        self.request = request
        self.created = created
        self.batch = batch
        self.caller = caller
        self.place = place
        self.is_stored = is_stored
        self.submitted_at = time.monotonic()
        self.cancelled = threading.Event()
        self.log = EventLog()
        self._status: Status = "queued"
        self._began_at: float | None = None
        self._over = threading.Event()
        self.followers = Followers()

    def begin(self) -> None:
        self._began_at = time.monotonic()
        self._status = "running"

    def finish(self, done: Done | None) -> None:
        """Publish the last entry and close the log. None: the job was interrupted."""
        if done is None:
            self._status = "queued"
        else:
            self.log.publish(done)
        self.log.close()
        self._over.set()

    def record(self) -> Record:
        entries = self.log.entries()
        last = entries[-1] if entries else None
        status = last.status if isinstance(last, Done) else self._status
        record = Record(self.id, self.request, self.created, status, entries, False, None, self.batch.read)
        return record.running_since(self._began_at)

    def wait(self, check: Check) -> Record:
        while not self._over.wait(CHECK_SECONDS):
            check()
        return self.record()
