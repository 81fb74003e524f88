"""The queue inside a worker: does the jobs that the worker has taken, and publishes them for web servers."""

from __future__ import annotations

import queue
import time
from collections.abc import Collection, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from functools import partial
from threading import Thread

from explorer.errors import StoreError
from explorer.jobs.fairness import do_nothing
from explorer.jobs.job import Job
from explorer.jobs.local import RENEWAL_SECONDS, LocalQueue
from explorer.jobs.metrics import Metrics
from explorer.jobs.observation import reported
from explorer.jobs.runners import RunnerKind, Runners
from explorer.jobs.shared_queue import QueueLimits
from explorer.model import Done
from explorer.store import Entry, Record, Store

#: How often a worker that waits for cancellations notices that it stops.
_POLL_SECONDS = 0.2
#: New entries are published at most this often: each time costs statements here and on each web server.
_PUBLICATION_SECONDS = 0.1


class WorkerQueue(LocalQueue):
    """The `LocalQueue` of a worker. Its jobs are in the database, and so are their followers."""

    def __init__(
        self,
        store: Store,
        runners: Runners,
        metrics: Metrics,
        limits: QueueLimits,
        *,
        reserves: Collection[RunnerKind] = (),
    ) -> None:
        #: Jobs with new entries; None ends the thread that publishes them.
        self._with_entries: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        super().__init__(store, runners, metrics, limits, reserves=reserves)
        self._publisher = Thread(target=self._publish, name="publisher", daemon=True)
        self._publisher.start()

    def perform(self, record: Record) -> bool:
        """Do a job whose lease this worker has, for the caller of the thread.

        Return whether the job was done; False if the queue is closed first. The job has been accepted
        already: only the limit of GPU time can refuse it, which ends the job with a diagnostic.
        """
        job = self._enter(record.id, record.request, record.created, ExitStack, joins=False)
        job.log.watch(partial(self._with_entries.put, job))
        self._with_entries.put(job)
        return job.wait(do_nothing).is_finished

    def close(self) -> None:
        """Stop all jobs. Other workers start them anew."""
        super().close()
        self._with_entries.put(None)
        self._publisher.join()

    def _renew(self) -> None:
        """Renew leases regularly, and when a follower of a job has left it on a web server."""
        while not self._ended.is_set():
            with reported("Leases are not renewed"), self._store.leases.listening(to_leaving=True) as wait:
                self._renew_once()
                while not self._ended.is_set():
                    due, left = time.monotonic() + RENEWAL_SECONDS, set[str]()
                    while not self._ended.is_set() and time.monotonic() < due:
                        left |= wait(_POLL_SECONDS)  # this worker may begin a job that was left before
                        if left and not left.isdisjoint(self.jobs_in_flight()):
                            break
                    self._renew_once()
            self._ended.wait(_POLL_SECONDS)

    def _renew_once(self) -> None:
        self._store.renew_reservation()
        if jobs := self.jobs_in_flight():
            for record_id, followers in self._store.leases.renew(jobs).items():
                for follower in followers:
                    self._leave(record_id, follower)

    def _leave(self, record_id: str, follower: str) -> None:
        """Let a follower leave a job, and cancel the job if nobody else has submitted it.

        The web server has counted all event streams. An event stream that has begun since, to read how the
        job ends, does not keep the job running.
        """
        others = 0
        with suppress(StoreError):  # the other followers are unknown
            others = self._store.followers.leave(record_id, follower, counts_streams=False)
        job = self._in_flight.get(record_id)
        if job is not None and not others:
            self._cancel(job)

    def _publish(self) -> None:
        """Publish new entries when their texts are stored, at once after a pause, and in groups otherwise."""
        published: dict[Job, int] = {}
        due = time.monotonic()
        while (first := self._with_entries.get()) is not None:
            jobs = {first}
            self._closed.wait(due - time.monotonic())
            due = time.monotonic() + _PUBLICATION_SECONDS
            while not self._with_entries.empty():
                if (job := self._with_entries.get()) is None:
                    return
                jobs.add(job)
            for job in jobs:
                with reported("Entries are not published"):
                    skip = published.get(job, 0)
                    if new := _new_entries(job, skip):
                        self._store.leases.publish(job.id, skip, new)
                        published[job] = skip + len(new)
                if job.log.is_closed:
                    published.pop(job, None)


def _new_entries(job: Job, skip: int) -> Sequence[Entry]:
    """Return the entries of a job but the first `skip`, when their texts are stored.

    Without entries of a job that has ended, or whose texts cannot be stored: they come with the result.
    """
    entries = job.log.entries()[skip:]
    if job.log.is_closed or any(isinstance(entry, Done) for entry in entries):
        return ()
    try:
        job.batch.commit()
    except (CancelledError, StoreError):
        return ()
    return entries
