"""The interface of a queue. `explorer.jobs.local` and `explorer.jobs.distributed` implement it.

A further implementation is tested by one more parameter in `tests/jobs/test_queue.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from explorer.jobs.event_log import EventLog
from explorer.jobs.fairness import Check, do_nothing
from explorer.jobs.runners import RunnerKind
from explorer.model import Request
from explorer.store import Entry, Record


class Queue(Protocol):
    """Jobs, from their submission to their stored result. Safe to use from many threads.

    Equal requests share one job. A stored final result is returned without a job. Jobs are done for the
    caller of the thread (`explorer.jobs.caller`). Clients take turns, and a client cannot take all places in
    the queue.
    """

    def submit(self, request: Request) -> Record:
        """Return the stored result of a request, join the job at work on it, or start one.

        Raises:
            QueueFull, TooManyRequests: too many jobs wait, of all clients or of this one.
            Forbidden, QuotaUsed: the caller may not use a GPU, or not today.
            StoreError: the request cannot be stored; a quota may be full.
        """

    def find(self, record_id: str) -> Record:
        """Return a record by its ID. An unfinished job that no process does is started again.

        Raises:
            NotFound: there is no such record.
            QueueFull, TooManyRequests: the job has to be started again, and too many jobs wait.
            StoreError: the job has to be started again, and its result cannot be stored.
        """

    def latest(self, record: Record) -> Record:
        """Return the present state of a record, without starting its job."""

    def position(self, record: Record) -> int | None:
        """Return the position of a waiting job in its queue, from 1 on; None if it does not wait.

        A job that another client submits later may start before it.
        """

    def waits_for(self, record: Record) -> str:
        """Return what keeps all workers from a waiting job, without a last period; "" if one can do it."""

    def oldest_seconds(self, kind: RunnerKind) -> float:
        """Return how long the oldest job has waited for a kind of runner; 0 if none waits."""

    def problem(self, kind: RunnerKind) -> str | None:
        """Return why no runner of a kind can do a job at the moment, or None."""

    def refusal(self, kind: RunnerKind) -> str:
        """Return why the caller may not use a kind of runner; "" if it may."""

    def log(self, record_id: str) -> EventLog:
        """Return the event log of a job. The log of a finished job is closed.

        Raises:
            NotFound: there is no such record.
            QueueFull, TooManyRequests: the job has to be started again, and too many jobs wait.
        """

    def follow(self, record_id: str, skip: int = 0) -> Iterator[Entry | None]:
        """Yield all entries of a job but the first `skip`, as they come; None as a heartbeat.

        Raises:
            NotFound: there is no such record.
        """

    def poll(self, record_id: str) -> None:
        """Let the caller follow an unfinished job until it leaves, or ends a later event stream."""
        ...

    def begin_stream(self, record_id: str) -> Callable[[], None]:
        """Let the caller follow an unfinished job until the returned function is called."""

    def complete(self, request: Request, check: Check = do_nothing) -> Record:
        """Submit a request and wait for its result. An exception of `check` ends the wait, but not the job.

        Raises:
            QueueFull, TooManyRequests: too many jobs wait.
        """

    def cancel(self, record_id: str) -> int:
        """Leave a job, and cancel it if nobody else follows it. A finished job stays as it is.

        A caller that submits a job, polls it or reads its event stream follows it. Return the number of other
        followers.

        Raises:
            NotFound: there is no such record.
        """

    def ask(self, request: Request, check: Check = do_nothing) -> Record:
        """Do a job and wait for its result, which is removed early if it is stored at all.

        `check` is the `check` of `complete`.

        Raises:
            QueueFull, TooManyRequests: too many jobs, or threads for such results, wait, of all clients or
                of this one.
        """

    def close(self) -> None:
        """Stop all jobs. A request for an unfinished job starts it again."""
