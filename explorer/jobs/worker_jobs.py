"""The jobs that a worker has taken: does them, keeps their leases, and publishes them for web servers."""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from functools import partial
from threading import Condition, Event, Thread

from explorer.errors import StoreError, Unavailable
from explorer.jobs.caller import current_caller
from explorer.jobs.executor import RENEWAL_SECONDS, Executor
from explorer.jobs.gpu_gate import GpuGate, GpuRules
from explorer.jobs.job import Job
from explorer.jobs.metrics import Metrics
from explorer.jobs.observation import reported
from explorer.jobs.runners import Runner, runner_kind
from explorer.jobs.unstored_results import UnstoredResults
from explorer.model import Done
from explorer.sandbox.priority import yields
from explorer.store import Entry, Record, Store

#: How often a worker that waits for cancellations notices that it stops.
_POLL_SECONDS = 0.2
#: New entries are published at most this often: each time costs statements here and on each web server.
_PUBLICATION_SECONDS = 0.1


class WorkerJobs:
    """The running jobs of a worker. Nothing waits here: jobs wait in the database."""

    def __init__(self, store: Store, metrics: Metrics, gpu_rules: GpuRules) -> None:
        self._store = store
        self._in_flight: dict[str, Job] = {}
        self._changed = Condition()
        self._closed = Event()
        #: Set when no job runs any more.
        self._ended = Event()
        gpu_gate = GpuGate(gpu_rules, store.gpu_time)
        self._executor = Executor(store, metrics, gpu_gate, UnstoredResults(), self._closed, self._forget)
        #: Jobs with new entries; None ends the thread that publishes them.
        self._with_entries: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads = [
            Thread(target=self._renew, name="leases", daemon=True),
            Thread(target=self._publish, name="publisher", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def perform(self, record: Record, runner: Runner) -> bool:
        """Do a job whose lease this worker has, for the caller of the thread.

        Return whether the job was done; False if the worker stops first. The job has been accepted already:
        only the limit of GPU time can refuse it, which ends the job with a diagnostic. The thread yields the
        processor to others if another job of the client is running.

        Raises:
            Unavailable: the worker stops.
        """
        caller, kind = current_caller(), runner_kind(record.request)
        batch = self._store.batch(record.id)
        job = Job(record.id, record.request, record.created, batch, caller, ExitStack(), is_stored=True)
        with self._changed:
            if self._closed.is_set():
                raise Unavailable("The worker stops.")
            others = [each for each in self._in_flight.values() if each.caller.client == caller.client]
            yields.set(any(runner_kind(each.request) == kind for each in others))
            self._in_flight[job.id] = job
        job.log.watch(partial(self._with_entries.put, job))
        self._with_entries.put(job)
        self._executor.do(job, runner)
        return job.record().is_finished

    def in_flight(self) -> list[str]:
        """Return the IDs of the running jobs."""
        with self._changed:
            return list(self._in_flight)

    def close(self) -> None:
        """Stop all jobs. Other workers start them anew."""
        with self._changed:
            self._closed.set()
            for job in self._in_flight.values():
                job.cancelled.set()
            self._changed.wait_for(lambda: not self._in_flight)
        self._ended.set()
        self._with_entries.put(None)
        for thread in self._threads:
            thread.join()

    def _forget(self, job: Job) -> None:
        with self._changed:
            del self._in_flight[job.id]
            self._changed.notify_all()

    def _renew(self) -> None:
        """Renew leases regularly, and when a follower of a job has left it on a web server."""
        while not self._ended.is_set():
            with reported("Leases are not renewed"), self._store.leases.listening(to_leaving=True) as wait:
                self._renew_once()
                while not self._ended.is_set():
                    due, left = time.monotonic() + RENEWAL_SECONDS, set[str]()
                    while not self._ended.is_set() and time.monotonic() < due:
                        left |= wait(_POLL_SECONDS)  # this worker may begin a job that was left before
                        if left and not left.isdisjoint(self.in_flight()):
                            break
                    self._renew_once()
            self._ended.wait(_POLL_SECONDS)

    def _renew_once(self) -> None:
        self._store.renew_reservation()
        if jobs := self.in_flight():
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
            job.cancelled.set()

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
