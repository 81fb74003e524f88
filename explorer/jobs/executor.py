"""Does jobs with runners, and stores their results."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress

from explorer.errors import Forbidden, QuotaUsed, StoreError, StoreLocked, Unavailable, UnknownTriton
from explorer.jobs.gpu_gate import GpuGate
from explorer.jobs.job import Job
from explorer.jobs.metrics import Metrics
from explorer.jobs.observation import Observation
from explorer.jobs.runners import Runner, runner_kind
from explorer.jobs.unstored_results import UnstoredResults
from explorer.model import CANCELED, Diagnostic, Done
from explorer.monitoring.traces import span
from explorer.store import Store
from explorer.store.entry_writer import EntryWriter

#: How often the leases of running jobs are renewed.
RENEWAL_SECONDS = 3.0
#: How long to wait before a result is stored again in a database that another process has locked.
_LOCKED_SECONDS = 1.0
_log = logging.getLogger(__name__)


class Executor:
    """Does jobs in the threads of its callers.

    `forget` is called with each job that has ended, before its followers know. When `closed` is set, running
    jobs end without a result.
    """

    def __init__(
        self,
        store: Store,
        metrics: Metrics,
        gpu_gate: GpuGate,
        unstored: UnstoredResults,
        closed: threading.Event,
        forget: Callable[[Job], None],
    ) -> None:
        self._store = store
        self._metrics = metrics
        self._gpu_gate = gpu_gate
        self._unstored = unstored
        self._closed = closed
        self._forget = forget

    def do(self, job: Job, runner: Runner) -> None:
        """Do a job. Its log is closed in every case."""
        with Observation(job, self._metrics) as observation:
            self._do(job, runner, observation)

    def _do(self, job: Job, runner: Runner, observation: Observation) -> None:
        """Do a job, and store its result.

        The last entry is published after the result is stored: a follower that has the entry finds the
        result.
        """
        done: Done | None
        try:
            done = self._run(job, runner, observation)
            if self._closed.is_set():
                done = None
            elif job.is_stored:
                with span("store"):
                    done = self._store_result(job, done)
            else:
                job.batch.commit()  # the caller of `ask` may read the texts
        except StoreError as error:
            _log.error("The result of %s is not stored: %s", job.id, error.detail)
            reason = Diagnostic("error", f"{error.title}.", hint=error.detail)
            done = self._end_without_result(job, reason)
            observation.failing = "store"
        except Exception:  # the thread must survive, and followers must not wait forever
            done = self._end_without_result(job, _internal_error(job, observation))
        with suppress(StoreError):  # the lease expires
            self._store.leases.release(job.id, is_over=done is not None)
        self._forget(job)
        observation.end(done)
        job.finish(done)
        job.batch.discard()

    def _store_result(self, job: Job, done: Done) -> Done | None:
        """Store a result as soon as the database is unlocked. None: `closed` is set first.

        Raises:
            StoreError: the result cannot be stored.
        """
        while True:
            try:
                self._store.finish(job.id, (*job.record().entries, done), job.batch)
            except StoreLocked as error:
                _log.warning("The result of %s is not stored yet: %s", job.id, error.detail)
                if self._closed.wait(_LOCKED_SECONDS):
                    return None
            else:
                return done

    def _end_without_result(self, job: Job, reason: Diagnostic) -> Done:
        """Publish and store why the result of a job is not stored, and return the last entry of the job."""
        done = _transient_failure(job)
        job.log.publish(reason)
        try:
            if job.is_stored:
                self._store.fail(job.id, reason, done.milliseconds)
        except Exception as error:  # the thread must survive
            is_unexpected = not isinstance(error, StoreError)
            _log.warning("Why %s has no result is not stored: %s", job.id, error, exc_info=is_unexpected)
            self._unstored.note(job.record())
        return done

    def _run(self, job: Job, runner: Runner, observation: Observation) -> Done:
        """Publish all entries but the last one and return it."""
        writer = EntryWriter(job.batch)
        if job.cancelled.is_set():
            observation.failing = "canceled"
            job.log.publish(CANCELED)
            return _transient_failure(job)
        is_on_gpu = runner_kind(job.request) == "gpu"
        try:
            with self._gpu_gate.counted(job.caller) if is_on_gpu else nullcontext():
                job.begin()
                for event in runner.run(job.request, job.cancelled):
                    observation.note(event)
                    if isinstance(event, Done):
                        return event
                    job.log.publish(writer.write(event))
        except (Unavailable, UnknownTriton, Forbidden, QuotaUsed) as error:
            observation.failing = "sandbox"
            job.log.publish(Diagnostic("error", f"{error.title}.", hint=error.detail))
            return _transient_failure(job)
        except StoreError:  # the end of the job cannot be stored either
            raise
        except Exception:  # followers and later readers get the error
            job.log.publish(_internal_error(job, observation))
            return _transient_failure(job)
        raise AssertionError("the sandbox ended without a last event")


def _internal_error(job: Job, observation: Observation) -> Diagnostic:
    """Log the handled exception, and return the diagnostic for the followers of the job."""
    _log.exception("Job %s failed with an unexpected error", job.id)
    observation.failing = "server"
    return Diagnostic("error", "Internal error.", hint="The server's log has the traceback. Try again.")


def _transient_failure(job: Job) -> Done:
    """Return the last entry of a job that failed outside the sandbox."""
    return Done("failed", (time.monotonic() - job.submitted_at) * 1000, is_transient=True)
