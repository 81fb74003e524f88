"""The queue of a web server whose jobs are done by workers, on any machine.

Requests in, records out, as `local`. A job waits in the database (`explorer.store.job_table`). A message of
the broker tells the workers, and the entries come through the database. This process starts no sandbox.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import partial

from explorer.errors import QueueFull, StoreError, TooManyRequests, Unavailable
from explorer.jobs.broker import Sender
from explorer.jobs.caller import Urgency, current_caller
from explorer.jobs.fairness import CHECK_SECONDS, Check, do_nothing, refusal
from explorer.jobs.metrics import Metrics
from explorer.jobs.observation import reported
from explorer.jobs.rates import Count
from explorer.jobs.remote_jobs import RemoteJob, RemoteJobs
from explorer.jobs.runners import RunnerKind, runner_kind
from explorer.jobs.shared_queue import FollowedJob, QueueLimits, SharedQueue
from explorer.jobs.worker_registry import BEAT_SECONDS, RUNNER_KINDS, WorkerRegistry, kind_of, process_name
from explorer.model import CANCELED, Done, Request
from explorer.store import NewJob, Record, Store

#: How long a request for a job that is being canceled waits before it joins the job.
_CANCEL_SECONDS = 10.0


class DistributedQueue(SharedQueue):
    """A `Queue` of jobs that workers do. All web servers of a database share it, and its limit of jobs."""

    def __init__(
        self,
        store: Store,
        workers: WorkerRegistry,
        broker_url: str,
        metrics: Metrics,
        limits: QueueLimits,
    ) -> None:
        super().__init__(store, metrics, limits)
        self._workers = workers
        self._limit = limits.waiting_jobs
        self._sender = Sender(broker_url)
        self._remote_jobs = RemoteJobs(store, self._unstored.note)
        self._closed = threading.Event()
        self._presence = threading.Thread(target=self._announce, name="presence", daemon=True)
        self._presence.start()
        for kind in RUNNER_KINDS:
            metrics.waiting.labels(kind).set_function(partial(self._count_waiting, kind))
            metrics.running.labels(kind).set_function(partial(self._count_running, kind))
            metrics.oldest_seconds.labels(kind).set_function(partial(self.oldest_seconds, kind))
            metrics.in_service.labels(kind).set_function(partial(workers.slots, kind))

    # --- requests ---------------------------------------------------------------------------------

    def position(self, record: Record) -> int | None:
        """Return the position of a waiting job in its queue, from 1 on; None if it does not wait."""
        if record.status != "queued":
            return None
        queue = self._store.jobs.queue(record.id)
        order = self._store.jobs.order(queue) if queue else []
        return order.index(record.id) + 1 if record.id in order else None

    def oldest_seconds(self, kind: RunnerKind) -> float:
        """Return how long the oldest job of a kind has waited; 0 if none waits or the time is unknown."""
        try:
            return self._store.jobs.oldest_seconds(kind)
        except StoreError:
            return 0.0

    def waits_for(self, record: Record) -> str:
        queue = self._store.jobs.queue(record.id) if record.status == "queued" else None
        return self._workers.missing(queue) if queue else ""

    def problem(self, kind: RunnerKind) -> str | None:
        return self._workers.problem(kind)

    def complete(self, request: Request, check: Check = do_nothing) -> Record:
        return self._wait(self.submit(request), check)

    def cancel(self, record_id: str) -> int:
        """Leave a job, and cancel it if nobody else follows it. A finished job stays as it is.

        Return the number of other followers of the job, on all servers.

        Raises:
            NotFound: there is no such record.
        """
        follower = current_caller().follower
        if self._store.find(record_id).is_finished:
            return 0
        if others := self._remote_jobs.leave(record_id, follower):
            return others
        job = self._remote_jobs.find(record_id)
        if job is not None:
            job.is_canceled = True
        if self._store.jobs.withdraw(record_id):
            self._finish_canceled(record_id)
        else:
            self._store.leases.leave(record_id, follower)
        if job is not None:
            self._remote_jobs.refresh(job)
        return 0

    def ask(self, request: Request, check: Check = do_nothing) -> Record:
        with self._asking.place(current_caller().client):
            record = self._wait(self._obtain(request, self._store.known(request), is_live=True), check)
        if not record.is_finished:
            raise Unavailable("The server is shutting down. Try again in a minute.")
        return record

    def close(self) -> None:
        """Stop following jobs. Workers continue the jobs."""
        self._closed.set()
        self._presence.join()
        self._remote_jobs.close()
        self._sender.close()

    def _announce(self) -> None:
        """Announce to the workers where this server stores texts, until it is closed."""
        processes, name = self._store.processes, process_name()
        while True:
            with reported("The lock of the database is not renewed"):
                self._store.renew_reservation()
            with suppress(StoreError):  # requests report the error
                processes.announce(name, self._workers.location)
            if self._closed.wait(BEAT_SECONDS):
                break
        with suppress(StoreError):  # the announcement expires
            processes.retire(name)

    def _count_waiting(self, kind: RunnerKind) -> float:
        return self._count(lambda queue, waiting, _running: waiting if kind_of(queue) == kind else 0)

    def _count_running(self, kind: RunnerKind) -> float:
        return self._count(lambda queue, _waiting, running: running if kind_of(queue) == kind else 0)

    def _count(self, number: Callable[[str, int, int], int]) -> float:
        """Return the sum of a number of each queue, for metrics; NaN if it is unknown."""
        try:
            return sum(number(queue, *counts) for queue, counts in self._store.jobs.counts().items())
        except StoreError:
            return math.nan

    # --- the jobs ---------------------------------------------------------------------------------

    def _job(self, record_id: str) -> FollowedJob | None:
        return self._remote_jobs.find(record_id)

    def _present_job(self, record_id: str) -> FollowedJob | None:
        job = self._remote_jobs.find(record_id)
        return None if job is None else self._remote_jobs.catch_up(job)  # notifications may be late

    def _live_jobs(self, follower: str) -> Collection[str]:
        return self._store.followers.submitted(follower, Urgency.LIVE)

    def _start(self, request: Request, count: Count, *, is_live: bool) -> Record:
        caller, job = current_caller(), self._new_job(request, count)
        record = self._store.submit(
            request, caller.client, is_live=is_live, job=job, right=caller.deletion_right
        )
        return record if record.is_final else self._join_or_start(record, count, joins=True, is_new=True)

    def _join_or_start(self, record: Record, count: Count, *, joins: bool, is_new: bool = False) -> Record:
        """Follow a job. Queue the job first, unless it is new and queued already. Then tell the workers."""
        job = self._remote_jobs.find(record.id)
        if joins and job is not None:
            if job.is_canceled:  # a canceled job is of no use to the caller
                self._wait_for_end(job)
            job = self._remote_jobs.catch_up(job)
        if job is None and not is_new:
            self._store.admit()
            record = self._store.find(record.id)
            if record.is_final or (record.is_finished and not joins):  # the job has just ended
                return record
            is_new = self._store.jobs.enter(record.id, self._new_job(record.request, count))
        caller = current_caller()
        if joins and not is_new:
            self._store.jobs.hurry(record.id, caller.urgency)
        self._metrics.answered.labels("new job" if is_new else "job in flight").inc()
        followed = self._remote_jobs.follow(record, joins=joins)
        if is_new and (queue := self._store.jobs.queue(record.id)):
            self._sender.send(queue, record.id)
        return followed.record()

    def _new_job(self, request: Request, count: Count) -> NewJob:
        """Return a new job of the caller. Storing the job fails if there is no place for it.

        Raises:
            Forbidden, QuotaUsed: the caller may not use a GPU, or not today.
        """
        caller = current_caller()
        if runner_kind(request) == "gpu":
            self._gpu_gate.admit(caller)
        queue = self._workers.queue_of(request)
        context = caller.context
        admit = partial(self._admit, caller.client, count)
        return NewJob(queue, caller.client, caller.urgency, admit, context.request_id, context.traceparent)

    def _admit(self, client: str, count: Count, waiting: Counter[str]) -> None:
        """Refuse a job if the waiting jobs of all clients leave no place for it, or if a rate is exceeded.

        The store calls this method while it holds a lock of all servers.

        Raises:
            QueueFull, TooManyRequests: too many jobs wait.
        """
        try:
            if (error := refusal(client, waiting, self._limit, "jobs")) is not None:
                raise error
            count.keep()
        except (QueueFull, TooManyRequests):
            self._metrics.refused.inc()
            raise

    def _wait(self, record: Record, check: Check) -> Record:
        """Wait until a job is over."""
        if record.is_final:
            return record
        log = self.log(record.id)
        for _ in log.follow(0, CHECK_SECONDS):
            check()
        found, entries = self._store.find(record.id), log.entries()
        last = entries[-1] if entries else None
        if isinstance(last, Done) and not found.is_finished:  # another request has started the job again
            return replace(found, status=last.status, entries=entries)
        return found

    def _wait_for_end(self, job: RemoteJob) -> None:
        deadline = time.monotonic() + _CANCEL_SECONDS
        for _ in job.log.follow(0, CHECK_SECONDS):
            if time.monotonic() > deadline:
                return

    def _finish_canceled(self, record_id: str) -> None:
        """Store the end of a job that this server has taken in order to cancel it."""
        try:
            done = Done("failed", 0.0, is_transient=True)
            self._store.finish(record_id, (CANCELED, done), self._store.batch(record_id))
        except StoreError:  # only the text may be impossible to store
            self._store.fail(record_id, CANCELED, 0.0)
