"""Jobs that several servers share through their database: each is done by one server and followed by any.

A server renews the leases of its jobs, and publishes their entries where the database can notify other
servers. It follows the jobs of other servers, and takes over jobs whose servers have ended.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial

from explorer.errors import ExplorerError, StoreError
from explorer.jobs.caller import Caller, current_caller, work_for
from explorer.jobs.event_log import LocalEventLog
from explorer.jobs.followers import Followers, SharedFollowers
from explorer.jobs.job import Job
from explorer.jobs.protocol import EventLog
from explorer.model import Diagnostic, Done
from explorer.store import Entry, MeasurementEntry, PassEntry, Record, StageEntry, Status, Store
from explorer.store.entries import encode_entry
from explorer.store.leases import Leases

#: How often leases are renewed, and how often a server checks whether the servers of other jobs have ended.
_BEAT_SECONDS = 3.0
#: How often the database is polled: for jobs whose server cannot notify this one, and for new followers.
_POLL_SECONDS = 0.2
#: How long new entries are collected before they are published.
_MOMENT_SECONDS = 0.02
_log = logging.getLogger(__name__)


class RemoteJob:
    """A job that another process does: the entries that have arrived here, and its followers here."""

    def __init__(self, record: Record, caller: Caller, followers: Followers) -> None:
        self.id = record.id
        self.caller = caller
        self.log: EventLog = LocalEventLog()
        self.followers = followers
        #: Whether the job is known to run, also before its first entry.
        self.is_running = False
        #: Whether its last follower here has canceled it.
        self.is_canceled = False
        self._copying = threading.Lock()
        self._record = record
        #: The owner of the job, and how many of its entries have been read.
        self._owner = ""
        self._read = 0
        #: Entries of earlier owners that the present owner has not repeated.
        self._repeated: Counter[object] = Counter()

    def record(self) -> Record:
        """Return the state of the job that this server knows."""
        entries = self.log.entries()
        last = entries[-1] if entries else None
        status: Status = "running" if entries or self.is_running else "queued"
        if isinstance(last, Done):
            status = last.status
        known = self._record
        return Record(known.id, known.request, known.created, status, entries, False, None, known.read)

    def follow(self, leases: Leases) -> bool:
        """Publish the entries that the owner has published since the last call. Return whether one exists.

        An owner that has taken the job over starts anew: entries that it repeats are not published again.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._copying:
            owner, entries = leases.published(self.id, self._owner, self._read)
            if owner is not None and not self.log.is_closed:
                if owner != self._owner:
                    self._owner, self._read = owner, 0
                    self._repeated = Counter(map(_identity, self.log.entries()))
                self._read += len(entries)
                self._publish_new(entries)
            return owner is not None

    def complete(self, entries: Sequence[Entry]) -> None:
        """Publish the entries of the stored result that have not arrived yet, and end the log."""
        with self._copying:
            if not self.log.is_closed:
                self._repeated = Counter(map(_identity, self.log.entries()))
                self._publish_new(entries)
                self.log.close()

    def fail(self, error: ExplorerError) -> None:
        """End the log with an error, since no server does the job."""
        done = Done("failed", 0.0, is_transient=True)
        self.complete((Diagnostic("error", f"{error.title}.", hint=error.detail), done))

    def _publish_new(self, entries: Sequence[Entry]) -> None:
        new = []
        for entry in entries:
            if self._repeated[_identity(entry)]:
                self._repeated[_identity(entry)] -= 1
            else:
                new.append(entry)
        self.log.publish(*new)

    def go_on(self, log: EventLog) -> None:
        """Get the further entries from the log of the job that has taken over this one.

        That job starts anew: entries that have arrived here are not repeated.
        """

        def copy() -> None:
            is_over, entries = log.is_closed, log.entries()
            with self._copying:
                self.log.publish(*entries[len(self.log.entries()) :])
                if is_over and not self.log.is_closed:
                    if entries and isinstance(entries[-1], Done) and entries[-1] != self.log.entries()[-1]:
                        self.log.publish(entries[-1])  # the new log is shorter
                    self.log.close()

        log.watch(copy)
        copy()


def _identity(entry: Entry) -> object:
    """Return the part of an entry that is equal in each execution of the same job."""
    match entry:
        case StageEntry(name=name) | MeasurementEntry(name=name):
            return type(entry), name
        case PassEntry(index=index):
            return type(entry), index
        case Done():
            return type(entry)
        case _:
            return encode_entry(entry)


class Sharing:
    """The connection of a queue with the other servers of its database.

    `note_unstored` gets the record of a job that no server does any more. `take_over` starts the job of a
    record for the caller of the thread and returns its log, or None if another server does the job.
    `own_jobs` returns the IDs of the queue's jobs; `leave` lets a follower leave a job. Without them, workers
    do all jobs.
    """

    def __init__(
        self,
        store: Store,
        note_unstored: Callable[[Record], None],
        take_over: Callable[[Record], EventLog | None],
        own_jobs: Callable[[], Sequence[str]] | None = None,
        leave: Callable[[str, str], object] = lambda _record_id, _follower: None,
    ) -> None:
        self._store = store
        self._note_unstored = note_unstored
        self._take_over = take_over
        self._own_jobs = own_jobs or (lambda: ())
        self._leave = leave
        self._workers_do_all = own_jobs is None
        self._is_notified = store.leases.publishes
        self._closed = threading.Event()
        self._remote: dict[str, RemoteJob] = {}
        self._starting = threading.Lock()
        self._follower: threading.Thread | None = None
        #: The jobs of other servers whose last event stream here has ended for a follower.
        self._ended: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self._ending = threading.Lock()
        #: Jobs with new entries; None ends the thread that publishes them.
        self._changed: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        if own_jobs is not None:
            self._threads.append(threading.Thread(target=self._renew, name="leases", daemon=True))
        if own_jobs is not None and self._is_notified:
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
        """Publish the entries of a new job, if the database can notify other servers."""
        if self._is_notified:
            job.log.watch(partial(self._changed.put, job))

    def _renew(self) -> None:
        """Renew leases at each beat, and when a follower on another server has left a job of this server."""
        while not self._closed.is_set():
            with _reported("Leases are not renewed"), self._store.leases.listening(to_leaving=True) as wait:
                self._renew_once()
                while not self._closed.is_set():
                    beat, left = time.monotonic() + _BEAT_SECONDS, set[str]()
                    while not self._closed.is_set() and time.monotonic() < beat:
                        left |= wait(_POLL_SECONDS)  # this server may begin a job that was left before
                        if left and not left.isdisjoint(self._own_jobs()):
                            break
                    self._renew_once()
            self._closed.wait(_POLL_SECONDS)

    def _renew_once(self) -> None:
        if jobs := self._own_jobs():
            for record_id, followers in self._store.leases.renew(jobs).items():
                for follower in followers:
                    self._leave(record_id, follower)

    def _publish(self) -> None:
        """Publish new entries when their texts are stored, grouping the entries of one moment."""
        published: dict[Job, int] = {}
        while (first := self._changed.get()) is not None:
            jobs = {first}
            self._closed.wait(_MOMENT_SECONDS)
            while not self._changed.empty():
                if (job := self._changed.get()) is None:
                    return
                jobs.add(job)
            for job in jobs:
                with _reported("Entries are not published"):
                    skip = published.get(job, 0)
                    if new := self._new_entries(job, skip):
                        self._store.leases.publish(job.id, skip, new)
                        published[job] = skip + len(new)
                if job.log.is_closed:
                    published.pop(job, None)

    def _new_entries(self, job: Job, skip: int) -> Sequence[Entry]:
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

    # --- the jobs of other servers ----------------------------------------------------------------

    def remote_job(self, record_id: str) -> RemoteJob | None:
        """Return the job of another server that this server follows, or None."""
        return self._remote.get(record_id)

    def catch_up(self, job: RemoteJob) -> RemoteJob | None:
        """Get entries that other servers may have published about a job. Return None if it has ended.

        If the database does not answer, return the job in the state that this server knows.
        """
        with suppress(StoreError):
            self.refresh(job)
        return self._remote.get(job.id)

    def follow(self, record: Record, *, joins: bool) -> RemoteJob:
        """Follow the job of another server. With `joins`, the caller follows it, too."""
        with self._starting:
            job = self._remote.get(record.id)
            if job is None:
                job = self._remote[record.id] = RemoteJob(
                    record, current_caller(), self._followers(record.id)
                )
            if self._follower is None:
                self._follower = threading.Thread(target=self._follow, name="remote-jobs", daemon=True)
                self._follower.start()
        if joins:
            job.is_canceled = False
            job.followers.join(current_caller().follower)
        return job

    def leave(self, record_id: str, follower: str) -> int:
        """Leave the job of another server. Return the number of other followers, on all servers.

        Raises:
            StoreError: the database cannot be used.
        """
        self._end_streams()
        job = self._remote.get(record_id)
        return (self._followers(record_id) if job is None else job.followers).leave(follower)

    def _followers(self, record_id: str) -> SharedFollowers:
        def end_later(follower: str) -> None:
            self._ended.put((record_id, follower))

        return SharedFollowers(record_id, self._store.followers, end_later)

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
        """Look at each job at each beat, and note its followers.

        A job with followers here is also looked at when it changes, and when a follower begins to read it. If
        the database cannot notify other servers, each job is looked at each time.
        """
        with self._store.leases.listening() as wait:
            next_beat, known = 0.0, set[str]()
            changed = set[str]()
            while self._remote and not self._closed.is_set():
                is_beat = time.monotonic() >= next_beat
                if is_beat:
                    next_beat = time.monotonic() + _BEAT_SECONDS
                    self._store.followers.renew()
                self._end_streams()
                jobs = dict(self._remote)
                followed = {job.id for job in jobs.values() if job.log.is_followed}
                due = followed - (known - changed)
                for job in jobs.values():
                    if is_beat or job.id in due or not self._is_notified:
                        self.refresh(job)
                known = followed
                changed = wait(_POLL_SECONDS)

    def _end_streams(self) -> None:
        """Note the followers who have ended their last event stream here and have not begun a new one."""
        with self._ending:
            while not self._ended.empty():
                record_id, follower = self._ended.get()
                job = self._remote.get(record_id)
                if job is not None and follower not in job.followers:
                    self._store.followers.end_stream(record_id, follower)

    def refresh(self, job: RemoteJob) -> None:
        """Get the new entries of a job; its result, if it is finished; or take it over."""
        has_owner = job.follow(self._store.leases)
        job.is_running = self._workers_do_all and has_owner
        if has_owner:
            return
        caller = current_caller()
        try:
            work_for(job.caller)
            record = self._store.find(job.id)
            log = None if record.is_finished else self._take_over(record)
        except ExplorerError as error:
            if self._workers_do_all and isinstance(error, StoreError):
                raise  # the worker continues
            _log.warning("The job %s is not taken over: %s", job.id, error.detail)
            job.fail(error)
            self._note_unstored(job.record())
            self._forget(job)
            return
        finally:
            work_for(caller)  # this may be the thread of a request
        if record.is_finished:
            self._forget(job)
            job.complete(record.entries)
        elif log is not None:
            self._forget(job)
            job.go_on(log)

    def _forget(self, job: RemoteJob) -> None:
        """Stop following a job. It may have been started again meanwhile."""
        with self._starting:
            if self._remote.get(job.id) is job:
                del self._remote[job.id]


@contextmanager
def _reported(what: str) -> Iterator[None]:
    """Log any error: the thread must survive."""
    try:
        yield
    except StoreError as error:
        _log.warning("%s: %s", what, error.detail)
    except Exception:
        _log.exception("%s because of an unexpected error", what)
