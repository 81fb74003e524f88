"""Leases: which process does a job, and the entries of the job that web servers can read.

A process holds the lease of each of its jobs and renews it. When a worker was killed, its leases expire, and
the next worker that looks takes the job over. A worker also publishes the entries of its jobs, and listening
web servers are notified.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Executable,
    Integer,
    LargeBinary,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session

from explorer.store.clock import Now
from explorer.store.database import Database, changed_rows, insert_into
from explorer.store.entries import Entry, decode_journal, encode_entry
from explorer.store.followers import forget_followers, is_submitted
from explorer.store.tables import CompilationRow, EntryRow, FailureRow, JobRow, LeaseRow, TurnRow, UsageRow

LEASE_SECONDS = 15.0
_ABANDONED_SECONDS = 3600.0
#: The channels of notifications: for changed jobs, and for jobs that a follower has left on a web server.
_CHANGED, _LEFT = "triton_explorer", "triton_explorer_left"


def _publication() -> Executable:
    """Return a statement that publishes entries of a job and notifies web servers."""
    own = select(LeaseRow.id).where(LeaseRow.id == bindparam("id"), LeaseRow.owner == bindparam("owner"))
    locked = own.with_for_update(read=True).cte("own")
    row = select(locked.c.id, bindparam("number", type_=Integer), bindparam("content", type_=LargeBinary))
    new = insert(EntryRow).from_select(["id", "number", "content"], row).returning(EntryRow.id).cte("new")
    not_durable = func.set_config("synchronous_commit", "off", True)  # until the end of the statement
    return select(not_durable, func.pg_notify(_CHANGED, new.c.id))


def _publications() -> Executable:
    """Return the query for the owner of a job and its published entries."""
    read = case((LeaseRow.owner == bindparam("owner"), bindparam("skip", type_=Integer)), else_=0)
    new = and_(EntryRow.id == LeaseRow.id, EntryRow.number > read)
    rows = select(LeaseRow.owner, EntryRow.number, EntryRow.content).outerjoin(EntryRow, new)
    return rows.where(LeaseRow.id == bindparam("id"), LeaseRow.expires >= Now()).order_by(EntryRow.number)


# Built once, since each job executes them dozens of times.
_PUBLICATION, _PUBLICATIONS = _publication(), _publications()


def is_leased(session: Session, record_ids: Sequence[str]) -> bool:
    """Return whether any process does one of these jobs."""
    found = select(LeaseRow.id).where(LeaseRow.id.in_(record_ids), LeaseRow.expires >= Now())
    return session.scalar(found.limit(1)) is not None


def forget_failure(session: Session, record_id: str) -> None:
    """Remove the result of a job that has failed for a transient reason and is started again."""
    failed = (CompilationRow.id == record_id, CompilationRow.journal.is_not(None), ~CompilationRow.is_final)
    unfinished = update(CompilationRow).where(*failed).values(status="queued", journal=None)
    if changed_rows(session.execute(unfinished)):
        session.execute(update(UsageRow).where(UsageRow.id == record_id).values(result_bytes=0))
    session.execute(delete(FailureRow).where(FailureRow.id == record_id))


class Leases:
    """The leases of one process, the owner."""

    def __init__(self, database: Database) -> None:
        self._database = database
        #: The name of this process.
        self.server = f"{os.getpid()}-{uuid.uuid4().hex}"[:32]
        #: The jobs whose leases were taken since the last renewal, or renewed then.
        self._held: set[str] = set()

    # --- the owner --------------------------------------------------------------------------------

    def seize(self, record_id: str) -> None:
        """Take the lease of a job, also from a process that was killed. For a server that does all jobs.

        Raises:
            StoreError: the database cannot be written.
        """
        if record_id not in self._held:
            with self._database.writing() as session:
                session.execute(delete(LeaseRow).where(LeaseRow.id == record_id))
                self.add(session, record_id)

    def forget_failure(self, record_id: str) -> None:
        """Remove the transient result of a job that this process starts again.

        Raises:
            StoreError: the database cannot be written.
        """
        with self._database.writing() as session:
            forget_failure(session, record_id)

    def add(self, session: Session, record_id: str) -> None:
        """Take the lease of a job that has just been inserted."""
        session.add(LeaseRow(id=record_id, **self._values()))
        self._held.add(record_id)

    def _values(self) -> dict[str, Any]:
        return {"owner": self.server, "expires": Now() + LEASE_SECONDS, "leaving": ""}

    def take(self, session: Session, record_id: str, *, starts_anew: bool = True) -> bool:
        """Take a lease that is free or has expired, and remove the published entries of an earlier owner.

        Unless the job `starts_anew`, the lease keeps the followers whose cancellation the earlier owner has
        not noticed, if nobody has submitted the job again. Return whether this process has the lease.
        """
        values = self._values()
        new = insert_into(session, LeaseRow).values(id=record_id, **values)
        kept = {} if starts_anew else {"leaving": case((is_submitted(record_id), ""), else_=LeaseRow.leaving)}
        new = new.on_conflict_do_update(
            index_elements=["id"],
            set_={**values, **kept},
            where=or_(LeaseRow.owner == self.server, LeaseRow.expires < Now()),
        )
        leaving = session.scalar(new.returning(LeaseRow.leaving))
        if leaving is None:
            return False
        if self._database.is_postgresql:
            session.execute(delete(EntryRow).where(EntryRow.id == record_id))
            self._notify(session, [record_id])
            if leaving:
                self._notify(session, [record_id], _LEFT)
        self._held.add(record_id)
        return True

    def renew(self, record_ids: Iterable[str]) -> dict[str, list[str]]:
        """Renew the leases of all jobs of this process. Return followers that have left elsewhere, by job.

        Raises:
            StoreError: the database cannot be written.
        """
        ids = set(record_ids)
        self._held &= ids
        own = (LeaseRow.id.in_(ids), LeaseRow.owner == self.server)
        with self._database.writing() as session:
            session.execute(update(LeaseRow).where(*own).values(expires=Now() + LEASE_SECONDS))
            found = select(LeaseRow.id, LeaseRow.leaving).where(*own, LeaseRow.leaving != "")
            left = {row.id: row.leaving.splitlines() for row in session.execute(found)}
            if left:
                session.execute(update(LeaseRow).where(*own).values(leaving=""))
        return left

    @property
    def held(self) -> frozenset[str]:
        """The jobs that this process does, also those whose leases have expired."""
        return frozenset(self._held)

    def is_not_lost(self, record_id: str) -> ColumnElement[bool]:
        """Return the condition that no other living process has taken a job over."""
        others = select(LeaseRow.id).where(
            LeaseRow.id == record_id, LeaseRow.owner != self.server, LeaseRow.expires >= Now()
        )
        return ~others.exists()

    def end(self, session: Session, record_id: str, *, is_over: bool = True) -> bool:
        """End a lease, in the transaction that stores the result if there is one, and notify web servers.

        Unless the job `is_over`, it waits for the next worker. Return whether this process had the lease.
        """
        # Taking a job locks its rows in the same order.
        session.execute(select(JobRow.id).where(JobRow.id == record_id).with_for_update())
        own = delete(LeaseRow).where(LeaseRow.id == record_id, LeaseRow.owner == self.server)
        was_held = bool(changed_rows(session.execute(own)))
        if was_held:
            if is_over:
                session.execute(delete(JobRow).where(JobRow.id == record_id))
                forget_followers(session, record_id)
            if self._database.is_postgresql:
                session.execute(delete(EntryRow).where(EntryRow.id == record_id))
                self._notify(session, [record_id])
        self._held.discard(record_id)
        return was_held

    def release(self, record_id: str, *, is_over: bool = False) -> None:
        """End a lease without a result, unless this has been done. The arguments have the meaning of `end`.

        Raises:
            StoreError: the database cannot be written. The lease expires.
        """
        if record_id in self._held:
            self._held.discard(record_id)
            with self._database.writing() as session:
                self.end(session, record_id, is_over=is_over)

    def release_all(self) -> None:
        """End the leases that this process still has.

        Raises:
            StoreError: the database cannot be written.
        """
        for record_id in tuple(self._held):
            self.release(record_id)

    def publish(self, record_id: str, skip: int, entries: Sequence[Entry]) -> None:
        """Publish the entries of a job that follow the first `skip`, unless its lease is lost.

        Raises:
            StoreError: the database cannot be written.
        """
        content = b",".join(map(encode_entry, entries))
        row = {"id": record_id, "number": skip + len(entries), "content": content}
        with self._database.connection() as connection:
            connection.execute(_PUBLICATION, {**row, "owner": self.server})

    def remove_abandoned(self) -> None:
        """Remove the leases and entries of killed processes whose jobs nobody has taken over.

        Raises:
            StoreError: the database cannot be written.
        """
        with self._database.writing() as session:
            session.execute(delete(LeaseRow).where(LeaseRow.expires < Now() - _ABANDONED_SECONDS))
            session.execute(delete(EntryRow).where(EntryRow.id.not_in(select(LeaseRow.id))))
            session.execute(delete(TurnRow).where(TurnRow.taken < Now() - _ABANDONED_SECONDS))
            session.execute(delete(FailureRow).where(FailureRow.expires < Now()))

    # --- web servers ------------------------------------------------------------------------------

    def published(
        self, record_id: str, owner: str = "", skip: int = 0
    ) -> tuple[str | None, tuple[Entry, ...]]:
        """Return the living process that does a job, or None, and the entries that it has published.

        The first `skip` entries are left out, if the process is still the `owner` that published them.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._database.reading() as session:
            found = session.execute(_PUBLICATIONS, {"id": record_id, "owner": owner, "skip": skip}).all()
        if not found:
            return None, ()
        read = skip if found[0].owner == owner else 0
        entries: list[Entry] = []
        for row in found:
            if row.content is not None:
                # An owner that does not know that it has published entries repeats them.
                entries += decode_journal(b"[" + row.content + b"]")[read - row.number :]
                read = row.number
        return found[0].owner, tuple(entries)

    def leave(self, record_id: str, follower: str) -> None:
        """Tell the owner of a job that a follower has canceled it here.

        Raises:
            StoreError: the database cannot be written.
        """
        news = (
            LeaseRow.id == record_id,
            LeaseRow.owner != self.server,
            ~(literal("\n") + LeaseRow.leaving).contains(f"\n{follower}\n", autoescape=True),
        )
        with self._database.reading() as session:
            if session.scalar(select(LeaseRow.id).where(*news)) is None:
                return
        with self._database.writing(is_durable=False) as session:
            left = update(LeaseRow).where(*news).values(leaving=LeaseRow.leaving + f"{follower}\n")
            if changed_rows(session.execute(left)) and self._database.is_postgresql:
                self._notify(session, [record_id], _LEFT)

    @contextmanager
    def listening(self, *, to_leaving: bool = False) -> Iterator[Callable[[float], set[str]]]:
        """Yield a function that waits, at most some seconds, and returns the changed jobs.

        With `to_leaving`, it returns the jobs that a follower has left. Changes between its calls are not
        lost. Only PostgreSQL notifies.

        Raises:
            StoreError: the database cannot be used.
        """
        with self._database.connection() as connection:
            driver: Any = connection.connection.driver_connection
            connection.detach()  # reserved: the connection listens until it is closed
            connection.exec_driver_sql(f"LISTEN {_LEFT if to_leaving else _CHANGED}")
            yield lambda seconds: {found.payload for found in driver.notifies(timeout=seconds, stop_after=1)}

    def _notify(self, session: Session, record_ids: Iterable[str], channel: str = _CHANGED) -> None:
        for record_id in record_ids:
            session.execute(select(func.pg_notify(bindparam("channel", channel), bindparam("id", record_id))))
