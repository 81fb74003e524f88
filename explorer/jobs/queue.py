"""The local queue: threads that take one job after another to its runner and its result to the store.

Requests go in, records come out. Identical requests share one job; what is stored is not done again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

from explorer.errors import ExplorerError, QueueFull, Unavailable, UnknownTriton
from explorer.jobs.job import Job
from explorer.jobs.metrics import Metrics
from explorer.jobs.runners import Lane, NoDevice, Runner, Runners, lane_of
from explorer.model import Diagnostic, Done, Request
from explorer.settings import Settings
from explorer.store import Entry, Record, Store
from explorer.store.address import canonical_json, digest_of
from explorer.store.blobs import BlobBatch
from explorer.store.entries import Recorder

HEARTBEAT_SECONDS = 10.0
#: The tasks whose results have an address.
_KEPT_TASKS = ("compile", "llvm-passes", "run")
#: How often a runner that is out of service is looked at again.
_RECOVERY_LOOK_SECONDS = 10.0
_log = logging.getLogger(__name__)


class Queue:
    """Jobs on their way to those who do them: a line for each kind of device, a thread for each runner."""

    def __init__(self, store: Store, runners: Runners, settings: Settings, metrics: Metrics) -> None:
        self._store = store
        self._runners = runners
        self._limit = settings.queue_limit
        self._metrics = metrics
        self._waiting: dict[Lane, deque[tuple[Job, BlobBatch]]] = {lane: deque() for lane in runners}
        self._in_flight: dict[str, Job] = {}
        self._running = 0
        self._is_closed = False
        self._changed = threading.Condition()
        # Whoever waits for an answer holds a thread of the server: others need some, too.
        self._asking = threading.BoundedSemaphore(max(settings.threads // 8, 1))
        self._workers = [
            threading.Thread(target=self._work, args=(lane, runner), name=f"{lane}-{number}", daemon=True)
            for lane in runners
            for number, runner in enumerate(runners[lane])
        ]
        for lane in runners:
            metrics.waiting.labels(lane).set_function(partial(len, self._waiting[lane]))
            metrics.in_service.labels(lane).set_function(partial(self._in_service, lane))
        metrics.running.set_function(lambda: self._running)
        for worker in self._workers:
            worker.start()

    # --- for those who ask ------------------------------------------------------------------

    def submit(self, request: Request) -> Record:
        """Answer from the store, join the job that does the same, or start one.

        Raises:
            QueueFull: too many jobs wait already. The request is known all the same.
        """
        record = self._store.submit(request)
        if not record.is_final:
            record = self._join_or_start(record)
        if record.is_final:
            self._metrics.answered.labels("store").inc()
        return record

    def find(self, compilation_id: str) -> Record:
        """A compilation by its id. One that was never finished is started again.

        Raises:
            NotFound: nobody has ever asked for it.
            QueueFull: it has to be started again, and too many jobs wait already.
        """
        job = self._in_flight.get(compilation_id)
        if job is not None:
            return job.record()
        record = self._store.find(compilation_id)
        return record if record.is_finished else self._join_or_start(record)

    def latest(self, record: Record) -> Record:
        """A record as it stands now, if a job is at work on it. One that has none is not started."""
        job = self._in_flight.get(record.id)
        return record if job is None else job.record()

    def position(self, record: Record) -> int | None:
        """How many jobs are done before this one, itself counted; None: it does not wait."""
        with self._changed:
            line = self._waiting[lane_of(record.request)]
            return next((place for place, (job, _) in enumerate(line, 1) if job.id == record.id), None)

    def problem(self, lane: Lane) -> str | None:
        """Why nothing in a line can be done just now; None: it can."""
        problems = [runner.problem for runner in self._runners[lane]]
        return problems[0] if all(problem is not None for problem in problems) else None

    def follow(self, compilation_id: str, skip: int = 0) -> Iterator[Entry | None]:
        """The entries of a compilation as they come; None as a sign of life in between."""
        record = self.find(compilation_id)
        job = self._in_flight.get(compilation_id)
        if job is not None:
            return job.follow(skip, HEARTBEAT_SECONDS)
        if not record.is_finished:  # it has finished since
            record = self._store.find(compilation_id)
        return iter(record.entries[skip:])

    def complete(self, request: Request) -> Record:
        """Submit a request and wait for its result.

        Raises:
            QueueFull: too many jobs wait already.
        """
        record = self.submit(request)
        for _ in self.follow(record.id):
            pass
        return self.find(record.id)

    def cancel(self, compilation_id: str) -> None:
        """Stop a job. One that is finished stays as it is.

        Raises:
            NotFound: nobody has ever asked for it.
        """
        with self._changed:
            job = self._in_flight.get(compilation_id)
            line = self._waiting[lane_of(job.request)] if job is not None else deque()
            waiting = next((pair for pair in line if pair[0] is job), None)
            if waiting is not None:
                line.remove(waiting)
        if job is None:
            self._store.find(compilation_id)
        else:
            job.cancelled.set()
        if waiting is not None:
            self._perform(*waiting, self._runners[lane_of(waiting[0].request)][0])

    def ask(self, request: Request) -> Record:
        """Do what is asked for in the sandbox like a compilation, but do not keep it.

        Raises:
            QueueFull: too many jobs wait already.
            Unavailable: too many threads wait here already.
        """
        if not self._asking.acquire(blocking=False):
            raise Unavailable("Too much is being looked at. Try again in a few seconds.")
        try:
            digest = digest_of(canonical_json(request))
            batch = self._store.batch()
            fresh = Job(digest, request, datetime.now(UTC), batch.read)
            record = self._enter(fresh, batch).wait()
        finally:
            self._asking.release()
        if not record.is_finished:
            raise Unavailable("The server is shutting down. Try again in a moment.")
        return record

    def close(self) -> None:
        """Stop all jobs. Those that are not finished will be started again when they are asked for."""
        with self._changed:
            self._is_closed = True
            jobs = list(self._in_flight.values())
            self._changed.notify_all()
        for job in jobs:
            job.cancelled.set()
        for worker in self._workers:
            worker.join()

    # --- the jobs -----------------------------------------------------------------------------

    def _in_service(self, lane: Lane) -> int:
        return sum(runner.problem is None for runner in self._runners[lane])

    def _join_or_start(self, record: Record) -> Record:
        with self._changed:
            job = self._in_flight.get(record.id)
            if job is None:
                record = self._store.find(record.id)
                if record.is_final:  # the job that did the same has just gone
                    return record
                batch = self._store.batch()
                job = self._enter(Job(record.id, record.request, record.created, batch.read), batch)
                self._metrics.answered.labels("new job").inc()
            else:
                self._metrics.answered.labels("job in flight").inc()
        return job.record()

    def _enter(self, fresh: Job, batch: BlobBatch) -> Job:
        """Queue a job, or return the one that does the same already."""
        with self._changed:
            job = self._in_flight.get(fresh.id)
            if job is None:
                line = self._waiting[lane_of(fresh.request)]
                try:
                    self._refuse_when_full(line)
                except ExplorerError:
                    batch.discard()
                    raise
                self._in_flight[fresh.id] = fresh
                line.append((fresh, batch))
                self._changed.notify_all()
                return fresh
        batch.discard()
        return job

    def _refuse_when_full(self, line: deque[tuple[Job, BlobBatch]]) -> None:
        if self._is_closed:
            raise Unavailable("The server is shutting down. Try again in a moment.")
        if len(line) >= self._limit:
            self._metrics.refused.inc()
            raise QueueFull(f"{len(line)} jobs are waiting. Try again in a few seconds.")

    def _work(self, lane: Lane, runner: Runner) -> None:
        """Take one job after another out of a line, for as long as the runner is good."""
        line = self._waiting[lane]
        while True:
            with self._changed:
                self._changed.wait_for(lambda: line or self._is_closed)
                if not line:
                    return
                job, batch = line.popleft()
                self._running += 1
            self._perform(job, batch, runner)
            with self._changed:
                self._running -= 1
            if not self._is_closed:
                runner.settle()
            while runner.problem is not None and not self._is_closed:
                if (reason := self.problem(lane)) is not None:
                    self._refuse_all(lane, reason)
                with self._changed:
                    self._changed.wait(_RECOVERY_LOOK_SECONDS)
                runner.settle()

    def _refuse_all(self, lane: Lane, reason: str) -> None:
        """Say to all who wait in a line that nobody will come."""
        while True:
            with self._changed:
                if not self._waiting[lane]:
                    return
                waiting = self._waiting[lane].popleft()
            self._perform(*waiting, NoDevice(reason))

    def _perform(self, job: Job, batch: BlobBatch, runner: Runner) -> None:
        """Take a job to its runner. Whatever happens, its followers get an end.

        The last event comes after the result is stored: whoever has seen it finds the result there.
        """
        done: Done | None
        try:
            done = self._run(job, batch, runner)
            if self._is_closed:
                done = None
            elif job.request.task in _KEPT_TASKS:
                self._store.finish(job.id, (*job.record().entries, done), batch)
        except Exception:  # the thread must live on, and nobody must wait for ever
            _log.exception("Job %s could not be finished", job.id)
            job.publish(
                Diagnostic("error", "The server made a mistake.", hint="It is in its log. Try again.")
            )
            done = _accident(job)
        with self._changed:
            del self._in_flight[job.id]
        job.finish(done)
        batch.discard()
        if done is not None:
            self._metrics.finished.labels(job.request.task, done.status).inc()
            self._metrics.seconds.labels(job.request.task).observe(time.monotonic() - job.submitted_at)

    def _run(self, job: Job, batch: BlobBatch, runner: Runner) -> Done:
        """Publish all events but the last, and return that."""
        recorder = Recorder(batch)
        if job.cancelled.is_set():
            job.publish(Diagnostic("error", "Cancelled.", hint="Start it again."))
            return _accident(job)
        job.begin()
        try:
            for event in runner.run(job.request, job.cancelled):
                if isinstance(event, Done):
                    return event
                job.publish(recorder.record(event))
        except (Unavailable, UnknownTriton) as error:
            job.publish(Diagnostic("error", f"{error.title}.", hint=error.detail))
            return _accident(job)
        raise AssertionError("the sandbox ended without a last event")


def _accident(job: Job) -> Done:
    """The end of a job that did not come to one in the sandbox."""
    return Done("failed", (time.monotonic() - job.submitted_at) * 1000, is_transient=True)
