"""Compiles the cells of matrices, a few at a time, as the jobs of a batch.

Each matrix at work has a thread. The thread submits cells for the client that has requested the matrix,
within the limits of this client, and counts the metrics of each result.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from explorer.errors import ExplorerError, QueueFull, TooManyRequests, Unavailable
from explorer.jobs import EventLog, Queue
from explorer.jobs.caller import Caller, Urgency, current_caller, work_for
from explorer.matrix.matrix import Cell
from explorer.model import Request
from explorer.queries import QueryService, metrics
from explorer.store import Store

#: The matrices of one client, and of all, that are compiled at the same time.
MOST_OF_CLIENT = 4
MOST_AT_WORK = 32
#: The seconds between attempts to submit to a full queue.
_FULL_SECONDS = 0.5
#: The seconds between checks for additional slots.
_SLOTS_SECONDS = 3.0
#: The seconds after which a follower that does not ask for a matrix has left it. A browser lets a hidden page
#: ask once a minute.
FOLLOWING_SECONDS = 150.0
_MOST_REMEMBERED = 100
_log = logging.getLogger(__name__)


@dataclass
class _Work:
    """A matrix at work.

    `followers` has the time of the last request of each. `refused` has the reasons for cells that the server
    did not take, by cell.
    """

    matrix_id: str
    cells: tuple[Cell, ...]
    caller: Caller
    followers: dict[str, float]
    is_canceled: threading.Event = field(default_factory=threading.Event)
    refused: dict[int, str] = field(default_factory=dict)
    changed: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class _UnderWay:
    """A cell whose job is queued or executing."""

    record_id: str
    log: EventLog
    end_watch: Callable[[], None]


class MatrixCompiler:
    """Compiles matrices in the background. Safe to use from many threads.

    The number of cells of a matrix that wait or run at the same time is one more than the number of `slots`.
    In the distributed form the number of slots changes with the workers.
    """

    def __init__(
        self, store: Store, queue: Queue, query_service: QueryService, slots: Callable[[], int]
    ) -> None:
        self.store = store
        self.queue = queue
        self.query_service = query_service
        self._slots = slots
        self._lock = threading.Lock()
        self._at_work: dict[str, _Work] = {}
        #: Why cells of finished matrices were refused, by cell.
        self._refused: dict[str, Mapping[int, str]] = {}
        self._threads: set[threading.Thread] = set()
        self._is_closed = False

    def start(self, matrix_id: str, cells: tuple[Cell, ...]) -> None:
        """Compile the cells of a matrix. The caller becomes a follower. If the matrix is already at work,
        nothing else happens.

        Raises:
            TooManyRequests: too many matrices are at work, of all clients or of this one.
        """
        caller = current_caller()
        with self._lock:
            if self._is_closed:
                raise Unavailable("The server is shutting down. Try again in a minute.")
            known = self._at_work.get(matrix_id)
            if known is not None and not known.is_canceled.is_set():
                known.followers[caller.follower] = time.monotonic()
                return
            mine = sum(work.caller.client == caller.client for work in self._at_work.values())
            if mine >= MOST_OF_CLIENT or len(self._at_work) >= MOST_AT_WORK:
                whose = f"{mine} matrices of this client" if mine >= MOST_OF_CLIENT else "Too many matrices"
                raise TooManyRequests(f"{whose} are being compiled. Wait for one, or cancel it.")
            follower = f"{caller.client} matrix {matrix_id}"
            own = replace(caller, follower=follower, urgency=Urgency.BATCH)
            work = _Work(matrix_id, cells, own, {caller.follower: time.monotonic()})
            self._at_work[matrix_id] = work
            self._refused.pop(matrix_id, None)
            thread = threading.Thread(target=self._perform, args=(work,), name="matrix", daemon=True)
            self._threads.add(thread)
            thread.start()

    def poll(self, matrix_id: str) -> None:
        """Note that the caller asks for a matrix, if it is one of its followers."""
        follower = current_caller().follower
        with self._lock:
            work = self._at_work.get(matrix_id)
            if work is not None and follower in work.followers:
                work.followers[follower] = time.monotonic()

    def cancel(self, matrix_id: str) -> int:
        """Leave a matrix, and stop it if it has no other followers. Return the number of other followers.

        A page may be gone without a word: it has left after `FOLLOWING_SECONDS` without a request.
        Compilations with other followers continue, and results stay.
        """
        with self._lock:
            work = self._at_work.get(matrix_id)
            if work is None:
                return 0
            work.followers.pop(current_caller().follower, None)
            latest = time.monotonic() - FOLLOWING_SECONDS
            work.followers = {name: asked for name, asked in work.followers.items() if asked > latest}
            if not work.followers:
                work.is_canceled.set()
                work.changed.set()
            return len(work.followers)

    def is_at_work(self, matrix_id: str) -> bool:
        """Return whether cells of a matrix are still to be compiled."""
        with self._lock:
            work = self._at_work.get(matrix_id)
            return work is not None and not work.is_canceled.is_set()

    def refused(self, matrix_id: str) -> Mapping[int, str]:
        """Return why the server did not take cells, by cell."""
        with self._lock:
            work = self._at_work.get(matrix_id)
            return dict(work.refused) if work is not None else self._refused.get(matrix_id, {})

    def close(self) -> None:
        """Stop all matrices. Call it before the queue is closed."""
        with self._lock:
            self._is_closed = True
            threads = list(self._threads)
            for work in self._at_work.values():
                work.is_canceled.set()
                work.changed.set()
        for thread in threads:
            thread.join()

    # --- a matrix -----------------------------------------------------------------------------

    def _perform(self, work: _Work) -> None:
        work_for(work.caller)
        try:
            self._compile(work)
        except Exception:  # the thread is not joined, so that an error is logged here
            _log.exception("The matrix %s failed with an unexpected error", work.matrix_id)
        finally:
            with self._lock:
                if self._at_work.get(work.matrix_id) is work:
                    del self._at_work[work.matrix_id]
                if work.refused:
                    if len(self._refused) >= _MOST_REMEMBERED:
                        self._refused.clear()
                    self._refused[work.matrix_id] = work.refused
                self._threads.discard(threading.current_thread())

    def _compile(self, work: _Work) -> None:
        waiting = deque(enumerate(cell.request for cell in work.cells))
        under_way: dict[int, _UnderWay] = {}
        try:
            while (waiting or under_way) and not work.is_canceled.is_set():
                work.changed.clear()
                is_full = False
                while waiting and len(under_way) <= self._slots() and not is_full:
                    index, request = waiting[0]
                    try:
                        under_way[index] = self._submit(request, work.changed.set)
                    except (QueueFull, TooManyRequests):
                        is_full = True
                        continue
                    except ExplorerError as error:
                        work.refused[index] = f"{error.title}. {error.detail}"
                    waiting.popleft()
                over = [index for index, each in under_way.items() if each.log.is_closed]
                for index in over:
                    job = under_way.pop(index)
                    job.end_watch()
                    self._count_metrics(work, job.record_id)
                if not over and (under_way or is_full):
                    work.changed.wait(_FULL_SECONDS if is_full else _SLOTS_SECONDS)
        finally:
            for job in under_way.values():
                job.end_watch()
                with suppress(ExplorerError):
                    self.queue.cancel(job.record_id)

    def _submit(self, request: Request, listener: Callable[[], None]) -> _UnderWay:
        record = self.queue.submit(request)
        log = self.queue.log(record.id)
        return _UnderWay(record.id, log, log.watch(listener))

    def _count_metrics(self, work: _Work, record_id: str) -> None:
        """Let the metrics of a complete cell be counted and kept with its result."""
        while not work.is_canceled.is_set():
            try:
                record = self.store.find(record_id)
                if record.status == "complete":
                    self.query_service.answer(
                        metrics.QUERY, (record,), {}, lambda: not work.is_canceled.is_set()
                    )
            except (QueueFull, TooManyRequests):
                work.is_canceled.wait(_FULL_SECONDS)
            except ExplorerError as error:  # the table shows the message of the result
                _log.warning("The metrics of %s are not known: %s", record_id, error.detail)
                return
            else:
                return
