"""Jobs that several servers share through their database: each is done by one server and followed by any.

A server renews the leases of its jobs, and publishes their entries where the database can notify others. It
follows the jobs of others, and takes those over whose servers have ended.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial

from explorer.errors import ExplorerError, StoreError
from explorer.jobs.caller import Caller, current_caller, work_for
from explorer.jobs.event_log import LocalEventLog
from explorer.jobs.followers import Followers
from explorer.jobs.job import Job
from explorer.jobs.protocol import EventLog
from explorer.model import Done
from explorer.store import Entry, Record, Status, Store
from explorer.store.entries import encode_entry

#: How often leases are renewed, and how often it is checked whether the server of a job has ended.
_BEAT_SECONDS = 3.0
#: How often jobs are looked at whose server cannot notify this one, and new ones.
_POLL_SECONDS = 0.2
_log = logging.getLogger(__name__)


class RemoteJob:
    """A job that another server does: its entries as they arrive here, and who follows it here."""

    def __init__(self, record: Record, caller: Caller) -> None:
        self.id = record.id
        self.caller = caller
        self.log: EventLog = LocalEventLog()
        self.followers = Followers()
        self._copying = threading.Lock()
        self._record = record

    def record(self) -> Record:
        """Return the present state of the job, as far as it is known here."""
        entries = self.log.entries()
        last = entries[-1] if entries else None
        status: Status = "running" if entries else "queued"
        if isinstance(last, Done):
            status = last.status
        known = self._record
        return Record(known.id, known.request, known.created, status, entries, False, None, known.read)

    def complete(self, entries: Sequence[Entry]) -> None:
        """Publish the entries of the stored result that have not arrived yet, and end the log."""
        arrived = Counter(map(encode_entry, self.log.entries()))
        for entry in entries:
            content = encode_entry(entry)
            if arrived[content]:
                arrived[content] -= 1
            else:
                self.log.publish(entry)
        self.log.close()

    def go_on(self, log: EventLog) -> None:
        """Get the further entries from the log of the job that has taken this one over.

        It starts anew: what has arrived here is not repeated.
        """

        def copy() -> None:
            is_over, entries = log.is_closed, log.entries()
            with self._copying:
                for entry in entries[len(self.log.entries()) :]:
                    self.log.publish(entry)
                if is_over and not self.log.is_closed:
                    if entries and isinstance(entries[-1], Done) and entries[-1] != self.log.entries()[-1]:
                        self.log.publish(entries[-1])  # there were fewer entries than before
                    self.log.close()

        log.watch(copy)
        copy()


class Sharing:
    """What a queue has to do with the other servers of its database.

    `own_jobs` returns the IDs of its jobs; `leave` lets a follower leave one; `take_over` starts the job of a
    record for the caller of the thread and returns its log, or None if another server does it.
    """

    def __init__(
        self,
        store: Store,
        own_jobs: Callable[[], Sequence[str]],
        leave: Callable[[str, str], object],
        take_over: Callable[[Record], EventLog | None],
    ) -> None:
        self._store = store
        self._own_jobs = own_jobs
        self._leave = leave
        self._take_over = take_over
        self._is_notified = store.leases.publishes
        self._closed = threading.Event()
        self._remote: dict[str, RemoteJob] = {}
        self._starting = threading.Lock()
        self._follower: threading.Thread | None = None
        #: Jobs with new entries; None ends the thread that publishes them.
        self._changed: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._renew, name="leases", daemon=True)]
        if self._is_notified:
            self._threads.append(threading.Thread(target=self._publish, name="publisher", daemon=True))
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop. Followers of the jobs of other servers are interrupted."""
        self._closed.set()
        self._changed.put(None)
        follower = self._follower
        for thread in (*self._threads, *([follower] if follower else [])):
            thread.join()
        for job in tuple(self._remote.values()):
            job.log.close()

    # --- the jobs of this server ------------------------------------------------------------------

    def share(self, job: Job) -> None:
        """Publish the entries of a new job, where the database can notify others."""
        if self._is_notified:
            job.log.watch(partial(self._changed.put, job))

    def _renew(self) -> None:
        while not self._closed.wait(_BEAT_SECONDS):
            with _reported("Leases are not renewed"):
                if jobs := self._own_jobs():
                    for record_id, followers in self._store.leases.renew(jobs).items():
                        for follower in followers:
                            self._leave(record_id, follower)

    def _publish(self) -> None:
        """Publish new entries, those of all jobs at once, when their texts are stored."""
        published: dict[str, int] = {}
        while (first := self._changed.get()) is not None:
            jobs = {first.id: first}
            while not self._changed.empty():
                if (job := self._changed.get()) is None:
                    return
                jobs[job.id] = job
            with _reported("Entries are not published"):
                new = {job.id: self._new_entries(job, published.get(job.id, 0)) for job in jobs.values()}
                self._store.leases.publish(new)
                published |= {job_id: entries[-1][0] for job_id, entries in new.items() if entries}
            for job in jobs.values():
                if job.log.is_closed:
                    published.pop(job.id, None)

    def _new_entries(self, job: Job, skip: int) -> list[tuple[int, Entry]]:
        """Return the entries of a job but the first `skip`, with their numbers, when their texts are stored.

        Those of a job that has ended, or whose texts cannot be stored, come with its result.
        """
        entries = job.log.entries()[skip:]
        if job.log.is_closed or any(isinstance(entry, Done) for entry in entries):
            return []
        try:
            job.batch.commit()
        except (CancelledError, StoreError):
            return []
        return list(enumerate(entries, skip + 1))

    # --- the jobs of other servers ----------------------------------------------------------------

    def remote_job(self, record_id: str) -> RemoteJob | None:
        """Return the job of another server that this one follows, or None."""
        return self._remote.get(record_id)

    def follow(self, record: Record, *, joins: bool) -> RemoteJob:
        """Follow the job of another server. With `joins`, so does the caller."""
        with self._starting:
            job = self._remote.setdefault(record.id, RemoteJob(record, current_caller()))
            if self._follower is None:
                self._follower = threading.Thread(target=self._follow, name="remote-jobs", daemon=True)
                self._follower.start()
        if joins:
            job.followers.join(current_caller().follower)
        return job

    def leave(self, record_id: str, follower: str) -> int:
        """Leave the job of another server, and let it know if nobody else follows the job here.

        Return how many others do.
        """
        job = self._remote.get(record_id)
        others = 0 if job is None else job.followers.leave(follower)
        if not others:
            self._store.leases.leave(record_id, follower)
        return others

    def _follow(self) -> None:
        """Follow the jobs of other servers until there are none."""
        while not self._is_idle():
            with _reported("Jobs of other servers are not followed"):
                self._listen()
            self._closed.wait(_POLL_SECONDS)

    def _is_idle(self) -> bool:
        with self._starting:
            is_idle = self._closed.is_set() or not self._remote
            if is_idle:
                self._follower = None
        return is_idle

    def _listen(self) -> None:
        """Look at each job at first, when it has changed, and at each beat."""
        with self._store.leases.listening() as wait:
            next_beat, known = 0.0, set[str]()
            changed = set[str]()
            while self._remote and not self._closed.is_set():
                is_beat = time.monotonic() >= next_beat
                if is_beat:
                    next_beat = time.monotonic() + _BEAT_SECONDS
                jobs = dict(self._remote)
                for job in jobs.values():
                    if is_beat or job.id in changed or job.id not in known or not self._is_notified:
                        self._refresh(job)
                known = set(jobs)
                changed = wait(_POLL_SECONDS)

    def _refresh(self, job: RemoteJob) -> None:
        """Get the new entries of a job; its result, if it is finished; or take it over."""
        is_held = self._store.leases.is_held(job.id)
        for entry in self._store.leases.published(job.id, len(job.log.entries())):
            job.log.publish(entry)
        if is_held:
            return
        work_for(job.caller)
        try:
            record = self._store.find(job.id)
            log = None if record.is_finished else self._take_over(record)
        except ExplorerError as error:
            _log.warning("The job %s is not taken over: %s", job.id, error.detail)
            del self._remote[job.id]
            job.log.close()
            return
        if record.is_finished:
            del self._remote[job.id]
            job.complete(record.entries)
        elif log is not None:
            del self._remote[job.id]
            job.go_on(log)


@contextmanager
def _reported(what: str) -> Iterator[None]:
    """Log what goes wrong: the thread must survive."""
    try:
        yield
    except StoreError as error:
        _log.warning("%s: %s", what, error.detail)
    except Exception:
        _log.exception("%s because of an unexpected error", what)
