"""The queue of one process: each runner has a thread that does one job after another.

Requests in, records out. Equal requests share one job; stored results are not computed again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from explorer.errors import (
    ExplorerError,
    QueueFull,
    StoreError,
    TooManyRequests,
    Unavailable,
)
from explorer.jobs.caller import Urgency, current_caller
from explorer.jobs.executor import RENEWAL_SECONDS, Executor
from explorer.jobs.fairness import CHECK_SECONDS, Check, FairQueue, Places, do_nothing
from explorer.jobs.job import Job
from explorer.jobs.metrics import Metrics
from explorer.jobs.observation import reported
from explorer.jobs.rates import Count
from explorer.jobs.runners import NoDevice, Runner, RunnerKind, Runners, problem_of, runner_kind
from explorer.jobs.shared_queue import FollowedJob, QueueLimits, SharedQueue
from explorer.model import Request
from explorer.sandbox.priority import yields
from explorer.store import Record, Store
from explorer.store.address import canonical_json, digest_of

#: How often a runner that is out of service is checked again.
_RECOVERY_CHECK_SECONDS = 10.0
_log = logging.getLogger(__name__)


class LocalQueue(SharedQueue):
    """A `Queue` in one process: a queue for each kind of runner, a thread for each runner.

    The last runner of each kind in `reserves` only does jobs of clients that have no running job.
    """

    def __init__(
        self,
        store: Store,
        runners: Runners,
        metrics: Metrics,
        limits: QueueLimits,
        *,
        reserves: Collection[RunnerKind] = (),
    ) -> None:
        super().__init__(store, metrics, limits)
        self._runners = runners
        self._waiting: dict[RunnerKind, FairQueue[Job]] = {
            kind: FairQueue(len(runners[kind]) - (kind in reserves), int(kind in reserves))
            for kind in runners
        }
        self._places = {kind: Places(limits.waiting_jobs, "jobs") for kind in runners}
        self._in_flight: dict[str, Job] = {}
        self._closed = threading.Event()
        self._executor = Executor(
            store, metrics, self._gpu_gate, self._unstored, self._closed, self._forget_job
        )
        #: Set when no job runs any more.
        self._ended = threading.Event()
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._work, args=(kind, runner), name=f"{kind}-{number}", daemon=True)
            for kind in runners
            for number, runner in enumerate(runners[kind])
        ]
        for kind in runners:
            metrics.waiting.labels(kind).set_function(partial(self._count_waiting, kind))
            metrics.running.labels(kind).set_function(partial(self._count_running, kind))
            metrics.oldest_seconds.labels(kind).set_function(partial(self.oldest_seconds, kind))
            metrics.in_service.labels(kind).set_function(partial(self._in_service, kind))
        self._renewal = threading.Thread(target=self._renew, name="leases", daemon=True)
        for thread in (*self._threads, self._renewal):
            thread.start()

    # --- requests ---------------------------------------------------------------------------

    def position(self, record: Record) -> int | None:
        """Return the position of a waiting job in its queue, from 1 on; None if it does not wait."""
        if record.status != "queued":
            return None
        with self._changed:
            waiting_jobs = self._waiting[runner_kind(record.request)].order()
        return next((place for place, job in enumerate(waiting_jobs, 1) if job.id == record.id), None)

    def waits_for(self, record: Record) -> str:  # noqa: ARG002  the workers are threads of this queue
        """Return "": no job lacks a worker."""
        return ""

    def oldest_seconds(self, kind: RunnerKind) -> float:
        with self._changed:
            submitted = min((job.submitted_at for job in self._waiting[kind]), default=None)
        return 0.0 if submitted is None else time.monotonic() - submitted

    def problem(self, kind: RunnerKind) -> str | None:
        return problem_of(self._runners[kind])

    def complete(self, request: Request, check: Check = do_nothing) -> Record:
        record = self.submit(request)
        for _ in self.log(record.id).follow(0, CHECK_SECONDS):
            check()
        return self.find(record.id)

    def cancel(self, record_id: str) -> int:
        job = self._in_flight.get(record_id)
        if job is None:
            self._store.find(record_id)
            return 0
        return job.followers.leave(current_caller().follower) or self._cancel(job)

    def _cancel(self, job: Job) -> int:
        """Cancel a job, unless somebody follows it. Return the number of followers."""
        with self._changed:
            if job.followers:  # a follower has joined meanwhile
                return len(job.followers)
            job.cancelled.set()
            is_waiting = self._withdraw(job)
        if is_waiting:
            self._executor.do(job, self._runners[runner_kind(job.request)][0])
        return 0

    def ask(self, request: Request, check: Check = do_nothing) -> Record:
        with self._asking.place(current_caller().client):
            digest = digest_of(canonical_json(request))
            with self._rates.counting(request) as count:
                take_place = partial(self._take_place, request, count)
                job = self._enter(digest, request, datetime.now(UTC), take_place, joins=True, is_stored=False)
            record = job.wait(check)
        if not record.is_finished:
            raise Unavailable("The server is shutting down. Try again in a minute.")
        return record

    def jobs_in_flight(self) -> list[str]:
        """Return the IDs of the unfinished jobs of this server, except the jobs of `ask`."""
        with self._changed:
            return [job.id for job in self._in_flight.values() if job.is_stored]

    def close(self) -> None:
        with self._changed:
            self._closed.set()
            jobs = list(self._in_flight.values())
            self._changed.notify_all()
        for job in jobs:
            job.cancelled.set()
        for thread in self._threads:
            thread.join()
        self._ended.set()
        self._renewal.join()

    # --- the jobs -----------------------------------------------------------------------------

    def _count_waiting(self, kind: RunnerKind) -> int:
        with self._changed:
            return len(self._waiting[kind])

    def _count_running(self, kind: RunnerKind) -> int:
        with self._changed:
            return self._waiting[kind].running

    def _in_service(self, kind: RunnerKind) -> int:
        return sum(runner.problem is None for runner in self._runners[kind])

    def _job(self, record_id: str) -> FollowedJob | None:
        return self._in_flight.get(record_id)

    def _live_jobs(self, follower: str) -> Collection[str]:
        with self._changed:
            callers = [(job.id, job.caller) for job in self._in_flight.values()]
        return [
            job_id
            for job_id, caller in callers
            if caller.urgency is Urgency.LIVE and caller.follower == follower
        ]

    def _start(self, request: Request, count: Count, *, is_live: bool) -> Record:
        caller = current_caller()
        with self._take_place(request, count) as place:  # a refused request is not stored
            record = self._store.submit(request, caller.client, is_live=is_live, right=caller.deletion_right)
            return record if record.is_final else self._join_or_enter(record, place.pop_all, joins=True)

    def _join_or_start(self, record: Record, count: Count, *, joins: bool) -> Record:
        if record.id not in self._in_flight:
            self._store.admit()
        return self._join_or_enter(record, partial(self._take_place, record.request, count), joins=joins)

    def _join_or_enter(self, record: Record, take_place: Callable[[], ExitStack], *, joins: bool) -> Record:
        """Follow the job of a stored request, or queue it. It takes the arguments of `_enter`."""
        with self._changed:
            if joins:  # a canceled job is of no use to the caller
                self._changed.wait_for(lambda: not self._is_canceled(record.id))
            is_new = record.id not in self._in_flight
            try:
                if is_new:
                    self._store.leases.seize(record.id)
                    record = self._store.find(record.id)
                    if record.is_final or (record.is_finished and not joins):  # the job has just ended
                        self._store.leases.release(record.id)
                        return record
                job = self._enter(record.id, record.request, record.created, take_place, joins=joins)
            except ExplorerError:
                self._store.leases.release(record.id)
                raise
            if is_new and record.is_finished:
                self._forget_failure(record.id)
        self._metrics.answered.labels("new job" if is_new else "job in flight").inc()
        return job.record()

    def _forget_job(self, job: Job) -> None:
        with self._changed:
            del self._in_flight[job.id]
            self._changed.notify_all()

    def _forget_failure(self, record_id: str) -> None:
        """Remove the transient result of a job that starts again."""
        try:
            self._store.leases.forget_failure(record_id)
        except StoreError as error:
            _log.warning("An earlier failure of %s may be taken for its end: %s", record_id, error)

    def _is_canceled(self, record_id: str) -> bool:
        job = self._in_flight.get(record_id)
        return job is not None and job.cancelled.is_set()

    def _enter(
        self,
        job_id: str,
        request: Request,
        created: datetime,
        take_place: Callable[[], ExitStack],
        *,
        joins: bool,
        is_stored: bool = True,
    ) -> Job:
        """Queue a job, or return the job in flight with the same ID. With `joins`, the caller follows it.

        A new job keeps the return value of `take_place` until the job starts.

        Raises:
            QueueFull, TooManyRequests, Forbidden, QuotaUsed: raised by `take_place`.
            Unavailable: the queue is closed.
        """
        caller, kind = current_caller(), runner_kind(request)
        with self._changed:
            job = self._in_flight.get(job_id)
            if job is None:
                self._refuse_when_closed()
                place = take_place()
                batch = self._store.batch(job_id)
                job = Job(job_id, request, created, batch, caller, place, is_stored=is_stored)
                self._in_flight[job_id] = job
                self._waiting[kind].put(job, caller)
                self._changed.notify_all()
            elif joins and caller.urgency < job.caller.urgency:
                self._hurry(job, caller.urgency)
            if joins:
                job.followers.join(caller.follower)
        return job

    def _hurry(self, job: Job, urgency: Urgency) -> None:
        """Raise the urgency of a job, also while it waits."""
        job.caller = replace(job.caller, urgency=urgency)
        self._waiting[runner_kind(job.request)].hurry(job, urgency)

    def _withdraw(self, job: Job) -> bool:
        """Take a job out of its queue. Return False if it does not wait."""
        is_waiting = self._waiting[runner_kind(job.request)].remove(job)
        if is_waiting:
            job.place.close()
        return is_waiting

    def _refuse_when_closed(self) -> None:
        if self._closed.is_set():
            raise Unavailable("The server is shutting down. Try again in a minute.")

    def _take_place(self, request: Request, count: Count) -> ExitStack:
        """Return a place in a queue for a new job of the caller, and keep its count.

        Closing the place gives it back.

        Raises:
            QueueFull: too many jobs wait.
            TooManyRequests: too many jobs of this client wait, or it has started too many.
            Forbidden, QuotaUsed: the caller may not use a GPU, or not today.
            Unavailable: the queue is closed.
        """
        self._refuse_when_closed()
        caller, kind = current_caller(), runner_kind(request)
        if kind == "gpu":
            self._gpu_gate.admit(caller)
        with ExitStack() as place:
            try:
                place.enter_context(self._places[kind].place(caller.client))
                count.keep()
            except (QueueFull, TooManyRequests):
                self._metrics.refused.inc()
                raise
            return place.pop_all()

    def _take(self, kind: RunnerKind) -> Job | None:
        """Wait for a job that a runner can do, and take it; None when the queue is closed.

        The thread yields the processor to others if another job of the client is running.
        """
        with self._changed:
            while (job := self._waiting[kind].take()) is None:
                if self._closed.is_set():
                    return None
                self._changed.wait()
            job.place.close()
            yields.set(self._waiting[kind].running_of(job.caller.client) > 1)
            return job

    def _work(self, kind: RunnerKind, runner: Runner) -> None:
        """Do one waiting job after another, as long as the runner is in service."""
        while (job := self._take(kind)) is not None:
            self._executor.do(job, runner)
            with self._changed:
                self._waiting[kind].done(job.caller.client)
                self._changed.notify_all()  # the end may make room for a further job of the client
            if not self._closed.is_set():
                runner.settle(self._closed)
            while runner.problem is not None and not self._closed.is_set():
                if (reason := self.problem(kind)) is not None:
                    self._refuse_all(kind, reason)
                with self._changed:
                    self._changed.wait(_RECOVERY_CHECK_SECONDS)
                runner.settle(self._closed)

    def _renew(self) -> None:
        """Renew the leases of the jobs, which keep other processes from deleting their requests."""
        while not self._ended.wait(RENEWAL_SECONDS):
            with reported("Leases are not renewed"):
                self._store.renew_reservation()
                if jobs := self.jobs_in_flight():
                    self._store.leases.renew(jobs)

    def _refuse_all(self, kind: RunnerKind, reason: str) -> None:
        """End all jobs that wait for a kind of runner with a diagnostic."""
        with self._changed:
            refused = [job for job in self._waiting[kind].order() if self._withdraw(job)]
        for job in refused:
            self._executor.do(job, NoDevice(reason))
