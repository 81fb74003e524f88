"""A worker: takes jobs from the database, does them with the runners of this machine, and stores the results.

A message of the broker says that a job waits. The worker then takes the job that is next, which may be a
different job, and continues until no job waits or no slot is free. It also looks for jobs at each beat: a
message may be lost, and a worker may have been killed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from explorer.errors import ExplorerError, StoreError, Unavailable
from explorer.jobs.broker import Receiver
from explorer.jobs.caller import Caller, Urgency, work_for
from explorer.jobs.runners import Runner, RunnerKind
from explorer.jobs.worker_jobs import WorkerJobs
from explorer.jobs.worker_registry import BEAT_SECONDS, WorkerDocument, WorkerGpu, kind_of, process_name
from explorer.monitoring.work_context import WorkContext
from explorer.store import Store, TakenJob

#: A message is acknowledged after this time and the job that runs then: brokers do not wait for hours.
_LONGEST_TURN_SECONDS = 300.0
_log = logging.getLogger(__name__)


class Station:
    """Does the jobs of one kind with its runners.

    `reserve` of the runners only do jobs of clients that have no running job.
    """

    def __init__(
        self, store: Store, jobs: WorkerJobs, queues: Sequence[str], runners: Sequence[Runner], reserve: int
    ) -> None:
        self.queues = tuple(queues)
        self.runners = tuple(runners)
        self.slots = len(runners) - reserve
        self._store = store
        self._jobs = jobs
        self._reserve = reserve
        self._free = list(runners)
        self._changing = threading.Lock()
        #: Held while a job is taken: the next job is chosen when the database shows this job as running.
        self._taking = threading.Lock()
        self._closed = threading.Event()

    def close(self) -> None:
        """Stop taking jobs."""
        self._closed.set()

    def work(self) -> bool:
        """Do one waiting job after another, as long as there are any. Return False if the worker stops."""
        end = time.monotonic() + _LONGEST_TURN_SECONDS
        while time.monotonic() < end and (taken := self._take()) is not None:
            if not self._do(*taken):
                return False
        return not self._closed.is_set()

    def look(self) -> None:
        """Start a thread for each job that waits while a runner is free.

        Runners that are out of service get a thread that brings them into service, if that is possible.
        """
        for runner in list(iter(lambda: self._borrow(is_in_service=False), None)):
            threading.Thread(target=self._give_back, args=(runner,), name="recovery", daemon=True).start()
        while (taken := self._take()) is not None:
            threading.Thread(target=self._do_and_work, args=taken, name="job", daemon=True).start()

    def _do_and_work(self, job: TakenJob, runner: Runner) -> None:
        if self._do(job, runner):
            self.work()

    def _take(self) -> tuple[TakenJob, Runner] | None:
        """Take the next job and a runner for it; None if there is none."""
        with self._taking:
            if (runner := self._borrow()) is None:
                return None
            job = None
            try:
                is_of_reserve = len(self._free) < self._reserve
                job = self._store.jobs.take(self.queues, self._jobs.in_flight(), is_of_reserve=is_of_reserve)
            except StoreError as error:
                _log.warning("No job is taken: %s", error.detail)
            finally:
                if job is None:
                    self._free.append(runner)
            return None if job is None else (job, runner)

    def _borrow(self, *, is_in_service: bool = True) -> Runner | None:
        """Take a free runner; None if there is none."""
        with self._changing:
            found = (each for each in self._free if (each.problem is None) == is_in_service)
            runner = None if self._closed.is_set() else next(found, None)
            if runner is not None:
                self._free.remove(runner)
            return runner

    def _give_back(self, runner: Runner) -> None:
        """Prepare a runner for its next job."""
        if not self._closed.is_set():
            runner.settle(self._closed)
        self._free.append(runner)

    def _do(self, job: TakenJob, runner: Runner) -> bool:
        """Do a job. Return False if the worker stops before it is done."""
        try:
            record = self._store.find(job.id)
            if record.is_final:  # its previous worker has finished late
                self._store.leases.release(job.id, is_over=True)
                return True
            context = WorkContext(job.request_id, job.id, job.traceparent)
            work_for(Caller(job.client, "", Urgency(job.urgency), context=context))
            return self._jobs.perform(record, runner)
        except Unavailable as error:  # the worker stops, or the database does not answer
            _log.warning("The job %s is given back: %s", job.id, error.detail)
            with suppress(StoreError):  # the lease expires
                self._store.leases.release(job.id)
            return False
        except ExplorerError as error:  # the request was removed
            _log.warning("The job %s is not done: %s", job.id, error.detail)
            with suppress(StoreError):
                self._store.leases.release(job.id, is_over=True)
            return True
        finally:
            self._give_back(runner)


class Consumer:
    """The worker of this process.

    `location` is where the worker stores texts; `problem` returns why a kind of jobs cannot be done, or None.
    """

    def __init__(
        self,
        store: Store,
        stations: Sequence[Station],
        broker_url: str,
        *,
        location: str,
        tier: str,
        gpus: Sequence[WorkerGpu],
        problem: Callable[[RunnerKind], str | None],
    ) -> None:
        self.name = process_name()
        self._store = store
        self._stations = stations
        self._location = location
        self._tier = tier
        self._gpus = tuple(gpus)
        self._problem = problem
        self._by_queue = {name: station for station in stations for name in station.queues}
        self._receivers = [
            Receiver(broker_url, station.queues, len(station.runners), self._handle) for station in stations
        ]

    def run(self, stopped: threading.Event) -> None:
        """Work until `stopped` is set. Closing its jobs then gives the running jobs back."""
        self._announce()
        for receiver in self._receivers:
            receiver.start()
        while not stopped.is_set():
            for station in self._stations:
                station.look()
            stopped.wait(BEAT_SECONDS)
            with suppress(StoreError):  # taking a job reports the error
                self._announce()
        for station in self._stations:
            station.close()
        for receiver in self._receivers:
            receiver.stop()
        with suppress(StoreError):  # the announcement expires
            self._store.processes.retire(self.name)

    def _handle(self, queue: str) -> bool:
        station = self._by_queue.get(queue)
        return station is None or station.work()

    def _announce(self) -> None:
        kinds = [kind_of(station.queues[0]) for station in self._stations]
        document = WorkerDocument(
            queues=tuple(self._by_queue),
            slots={kind: station.slots for kind, station in zip(kinds, self._stations, strict=True)},
            tier=self._tier,
            gpus=self._gpus,
            problems={kind: problem for kind in kinds if (problem := self._problem(kind)) is not None},
        )
        self._store.processes.announce(
            self.name, self._location, msgspec.json.encode(document), is_worker=True
        )
