"""The jobs that workers do, as a web server follows them: it reads their entries from the database."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

from explorer.errors import ExplorerError, StoreError, Unavailable
from explorer.jobs.caller import current_caller
from explorer.jobs.event_log import EventLog
from explorer.jobs.followers import Followers, SharedFollowers
from explorer.jobs.observation import reported
from explorer.model import Diagnostic, Done
from explorer.store import Entry, MeasurementEntry, PassEntry, Record, StageEntry, Status, Store
from explorer.store.entries import encode_entry
from explorer.store.leases import Leases

#: How often a job is read without a notification: its worker may have been killed.
_BEAT_SECONDS = 3.0
#: How often new followers are noticed.
_POLL_SECONDS = 0.2
_log = logging.getLogger(__name__)


class RemoteJob:
    """A job of a worker: the entries that have arrived here, and its followers here."""

    def __init__(self, record: Record, followers: Followers) -> None:
        self.id = record.id
        self.log = EventLog()
        self.followers = followers
        #: When the job was first known to run, also before its first entry.
        self.began_at: float | None = None
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
        status: Status = "running" if entries or self.began_at else "queued"
        if isinstance(last, Done):
            status = last.status
        known = self._record
        record = Record(known.id, known.request, known.created, status, entries, False, None, known.read)
        return record.running_since(self.began_at)

    def follow(self, leases: Leases) -> bool:
        """Publish the entries that the owner has published since the last call. Return whether one exists.

        An owner that has taken the job over starts anew: entries that it repeats are not published again.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._copying:
            owner, entries = leases.published(self.id, self._owner, self._read)
            self.began_at = None if owner is None else self.began_at or time.monotonic()
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
        """End the log with an error, since no worker does the job."""
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


class RemoteJobs:
    """The jobs of workers that a web server follows. `note_unstored` gets the record of an abandoned job."""

    def __init__(self, store: Store, note_unstored: Callable[[Record], None]) -> None:
        self._store = store
        self._note_unstored = note_unstored
        self._closed = threading.Event()
        self._jobs: dict[str, RemoteJob] = {}
        self._starting = threading.Lock()
        self._follower: threading.Thread | None = None
        #: The jobs whose last event stream here has ended for a follower.
        self._ended: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
        self._ending = threading.Lock()

    def close(self) -> None:
        """Stop. Followers of the jobs are interrupted."""
        self._closed.set()
        if (follower := self._follower) is not None:
            follower.join()
        for job in tuple(self._jobs.values()):
            job.log.close()

    def find(self, record_id: str) -> RemoteJob | None:
        """Return a job that this server follows, or None."""
        return self._jobs.get(record_id)

    def catch_up(self, job: RemoteJob) -> RemoteJob | None:
        """Get the published entries of a job. Return None if it has ended.

        If the database does not answer, return the job in the state that this server knows.
        """
        with suppress(StoreError):
            self.refresh(job)
        return self._jobs.get(job.id)

    def follow(self, record: Record, *, joins: bool) -> RemoteJob:
        """Follow a job. With `joins`, the caller follows it, too."""
        with self._starting:
            job = self._jobs.get(record.id)
            if job is None:
                job = self._jobs[record.id] = RemoteJob(record, self._followers(record.id))
            if self._follower is None:
                self._follower = threading.Thread(target=self._follow, name="remote-jobs", daemon=True)
                self._follower.start()
        if joins:
            job.is_canceled = False
            job.followers.join(current_caller().follower)
        return job

    def leave(self, record_id: str, follower: str) -> int:
        """Leave a job. Return the number of other followers, on all servers.

        Raises:
            StoreError: the database cannot be used.
        """
        self._end_streams()
        job = self._jobs.get(record_id)
        return (self._followers(record_id) if job is None else job.followers).leave(follower)

    def _followers(self, record_id: str) -> SharedFollowers:
        def end_later(follower: str) -> None:
            self._ended.put((record_id, follower))

        return SharedFollowers(record_id, self._store.followers, end_later)

    def _follow(self) -> None:
        """Follow the jobs until there are none."""
        while not self._is_idle():
            with reported("Jobs of workers are not followed"):
                self._listen()
            self._closed.wait(_POLL_SECONDS)

    def _is_idle(self) -> bool:
        with self._starting:
            is_idle = self._closed.is_set() or not self._jobs
            if is_idle:
                self._follower = None
        return is_idle

    def _listen(self) -> None:
        """Look at each job at each beat, and note its followers.

        A job with followers here is also looked at when it changes, and when a follower begins to read it.
        """
        with self._store.leases.listening() as wait:
            next_beat, known = 0.0, set[str]()
            changed = set[str]()
            while self._jobs and not self._closed.is_set():
                is_beat = time.monotonic() >= next_beat
                if is_beat:
                    next_beat = time.monotonic() + _BEAT_SECONDS
                    self._store.followers.renew()
                self._end_streams()
                jobs = dict(self._jobs)
                followed = {job.id for job in jobs.values() if job.log.is_followed}
                due = followed - (known - changed)
                for job in jobs.values():
                    if is_beat or job.id in due:
                        self.refresh(job)
                known = followed
                changed = wait(_POLL_SECONDS)

    def _end_streams(self) -> None:
        """Note the followers who have ended their last event stream here and have not begun a new one."""
        with self._ending:
            while not self._ended.empty():
                record_id, follower = self._ended.get()
                job = self._jobs.get(record_id)
                if job is not None and follower not in job.followers:
                    self._store.followers.end_stream(record_id, follower)

    def refresh(self, job: RemoteJob) -> None:
        """Get the new entries of a job, or its result if it is finished.

        Raises:
            StoreError: the database cannot be used. The worker continues the job.
        """
        if job.follow(self._store.leases):
            return
        try:
            record = self._store.find(job.id)
            if not record.is_finished and self._store.jobs.queue(job.id) is None:
                record = self._store.find(job.id)  # the worker removes the job when it stores the result
                if not record.is_finished:
                    raise Unavailable("The worker ended the job without a result. Try again.")
        except StoreError:
            raise
        except ExplorerError as error:
            _log.warning("The job %s has no result: %s", job.id, error.detail)
            job.fail(error)
            self._note_unstored(job.record())
            self._forget(job)
            return
        if record.is_finished:
            self._forget(job)
            job.complete(record.entries)

    def _forget(self, job: RemoteJob) -> None:
        """Stop following a job. It may have been started again meanwhile."""
        with self._starting:
            if self._jobs.get(job.id) is job:
                del self._jobs[job.id]
