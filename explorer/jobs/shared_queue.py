"""The common part of the queues: turning requests into records, and following jobs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from explorer.errors import NotFound
from explorer.jobs.caller import Urgency, current_caller
from explorer.jobs.event_log import EventLog
from explorer.jobs.fairness import Places
from explorer.jobs.followers import Followers
from explorer.jobs.gpu_gate import NO_RULES, GpuGate, GpuRules
from explorer.jobs.metrics import Metrics
from explorer.jobs.rates import Count, Rates
from explorer.jobs.runners import RunnerKind
from explorer.jobs.unstored_results import UnstoredResults
from explorer.model import Request
from explorer.store import Entry, Record, Store

HEARTBEAT_SECONDS = 10.0


@dataclass(frozen=True)
class QueueLimits:
    """The limits of a queue for its clients.

    `waiting_jobs` may wait for each kind of runner, and `waiting_threads` of this server in `ask`. Clients
    share both (`Places`). `rates` limit the new jobs of each client over time. `gpu_rules` say who may use
    GPUs.
    """

    waiting_jobs: int
    waiting_threads: int
    rates: Rates = field(default_factory=lambda: Rates({}))
    gpu_rules: GpuRules = NO_RULES


class FollowedJob(Protocol):
    """A job that this server does or follows."""

    @property
    def id(self) -> str: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def followers(self) -> Followers: ...
    def record(self) -> Record:
        """Return the present state of the job."""


class SharedQueue(ABC):
    """The methods of a `Queue` that do not depend on which process does the jobs."""

    def __init__(self, store: Store, metrics: Metrics, limits: QueueLimits) -> None:
        self._store = store
        self._metrics = metrics
        self._asking = Places(limits.waiting_threads, "compiler queries")
        self._unstored = UnstoredResults()
        self._rates = limits.rates
        self._gpu_gate = GpuGate(limits.gpu_rules, store.gpu_time)

    def submit(self, request: Request) -> Record:
        """Return the stored result, join the job at work on it, or start one.

        A live job ends the live jobs that its follower has started before.

        Raises:
            QueueFull, TooManyRequests: too many jobs wait, of all clients or of this one.
            StoreError: the request cannot be stored; a quota may be full.
        """
        caller = current_caller()
        is_live = caller.urgency is Urgency.LIVE
        record = self._store.known(request)
        if record is not None and not self._store.grant(record.id, caller.deletion_right, caller.client):
            record = None  # the record was deleted at this moment
        if is_live:
            self._end_earlier_live(None if record is None else record.id)
        elif record is not None:
            self._store.keep(record.id)
        record = self._obtain(request, record, is_live=is_live)
        if record.is_final:
            self._metrics.answered.labels("store").inc()
        return record

    def find(self, record_id: str) -> Record:
        """Return a record by its ID. An unfinished job that no process does is started again.

        If it ended without a stored result a moment ago, the record says why, and the job is not started.

        Raises:
            NotFound: there is no such record, or the measurements of an imported run are lost.
            QueueFull, TooManyRequests: the job has to be started again, and too many jobs wait.
            StoreError: the job has to be started again, and its result cannot be stored.
        """
        if (job := self._present_job(record_id)) is not None:
            return job.record()
        record = self._store.find(record_id)
        if record.request.imported and not record.is_finished:  # a run here would measure another machine
            raise NotFound(
                f"The measurements of the run {record_id} were removed or damaged. They came from another "
                "machine: push them again."
            )
        if record.is_finished:
            return record
        failed = self._unstored.find(record_id)
        if failed is not None and self._store.jobs.queue(record_id) is None:
            record = self._store.find(record_id)  # the job may have finished since
            return record if record.is_finished else failed
        with self._rates.counting(record.request) as count:
            return self._join_or_start(record, count, joins=False)

    def latest(self, record: Record) -> Record:
        was_under_way = self._job(record.id) is not None
        if (job := self._present_job(record.id)) is not None:
            return job.record()
        if was_under_way:  # the job has just ended
            record = self._store.find(record.id)
        return record if record.is_finished else self._unstored.find(record.id) or record

    def _present_job(self, record_id: str) -> FollowedJob | None:
        """Return a job that this server does or follows, in its present state."""
        return self._job(record_id)

    def refusal(self, kind: RunnerKind) -> str:
        return self._gpu_gate.refusal(current_caller()) if kind == "gpu" else ""

    def log(self, record_id: str) -> EventLog:
        record = self.find(record_id)
        job = self._job(record_id)
        if job is not None:
            return job.log
        if not record.is_finished:  # the job has finished since
            record = self._store.find(record_id)
        return EventLog.of(record.entries)

    def follow(self, record_id: str, skip: int = 0) -> Iterator[Entry | None]:
        return self.log(record_id).follow(skip, HEARTBEAT_SECONDS)

    def poll(self, record_id: str) -> None:
        """Let the caller follow an unfinished job until it leaves, or ends a later event stream."""
        if (job := self._job(record_id)) is not None:
            job.followers.poll(current_caller().follower)

    def begin_stream(self, record_id: str) -> Callable[[], None]:
        job = self._job(record_id)
        if job is None:
            return lambda: None
        follower, followers = current_caller().follower, job.followers
        followers.begin_stream(follower)

        def end() -> None:
            followers.end_stream(follower)

        return end

    @abstractmethod
    def cancel(self, record_id: str) -> int:
        """Leave a job, and cancel it if nobody else follows it. Return the number of other followers."""

    @abstractmethod
    def _job(self, record_id: str) -> FollowedJob | None:
        """Return a job that this server does or follows."""

    @abstractmethod
    def _live_jobs(self, follower: str) -> Collection[str]:
        """Return the IDs of the live jobs that a follower has started."""

    @abstractmethod
    def _start(self, request: Request, count: Count, *, is_live: bool) -> Record:
        """Store a new request of the caller, and start its job. Keep the count if it is new."""

    @abstractmethod
    def _join_or_start(self, record: Record, count: Count, *, joins: bool) -> Record:
        """Follow the job of a stored request, or start it and keep its count.

        With `joins`, the caller follows the job, too.
        """

    def _obtain(self, request: Request, record: Record | None, *, is_live: bool) -> Record:
        """Start the job of a request, or join it, unless the result in its record is final."""
        if record is not None and record.is_final:
            return record
        with self._rates.counting(request) as count:
            if record is not None:
                return self._join_or_start(record, count, joins=True)
            self._store.admit(current_caller().client)
            return self._start(request, count, is_live=is_live)

    def _end_earlier_live(self, record_id: str | None) -> None:
        """Leave the live jobs that the caller has started, except the one with this ID."""
        for each in self._live_jobs(current_caller().follower):
            if each != record_id:
                with suppress(NotFound):
                    self.cancel(each)
