"""The store with its rows in an SQL database and its texts in a blob store.

Blobs are stored before the rows that refer to them. A killed process leaves at worst unreferenced blobs,
never a row without its blobs.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from explorer.errors import NotFound, StoreError
from explorer.model import Diagnostic, Done, Request
from explorer.store.address import (
    ALPHABET,
    canonical_json,
    digest_of,
    possible_ids,
)
from explorer.store.answers import Answers
from explorer.store.backup import Copied, back_up
from explorer.store.batches import BlobBatch
from explorer.store.blob_compression import compress
from explorer.store.blob_store import BlobStore
from explorer.store.clock import Now, NowUtc
from explorer.store.collections import Collections
from explorer.store.database import Database, changed_rows, insert_into
from explorer.store.deletion_rights import Deleted, DeletionRight, DeletionRights, private_rows_of
from explorer.store.entries import Entry, encode_journal
from explorer.store.followers import FollowerTable
from explorer.store.gpu_time import GpuTime
from explorer.store.housekeeping import Housekeeping
from explorer.store.job_table import JobTable, NewJob
from explorer.store.leases import Leases
from explorer.store.processes import ProcessTable
from explorer.store.record import Record, compilation_of
from explorer.store.record_reader import RecordReader
from explorer.store.retention import Damage, Pruned, Quotas, StoreHealth
from explorer.store.server_lock import ServerLock
from explorer.store.statistics import Statistics, gather
from explorer.store.tables import CompilationRow, FailureRow, LiveRow, RunRow
from explorer.store.tokens import Tokens

_DIGITS = set(ALPHABET)
#: For this time, viewing a job whose result could not be stored does not start it again.
FAILURE_SECONDS = 10.0
NO_QUOTAS = Quotas()
_log = logging.getLogger(__name__)


class Store:
    """Requests and their results. `answers` has the answers about results. Safe to use from many threads."""

    def __init__(self, blobs: BlobStore, database_url: str, quotas: Quotas = NO_QUOTAS) -> None:
        self._blobs = blobs
        self._database_url = database_url
        self._database = Database(database_url)
        self._housekeeping = Housekeeping(self._database, blobs, quotas)
        self._server_lock = ServerLock(self._database)
        self.leases = Leases(self._database)
        self.followers = FollowerTable(self._database, self.leases.server)
        self.jobs = JobTable(self._database, self.leases)
        self.processes = ProcessTable(self._database)
        self._deletion_rights = DeletionRights(self._database)
        self.collections = Collections(self._database, self._housekeeping, self._deletion_rights)
        self.gpu_time = GpuTime(self._database)
        self.tokens = Tokens(self._database)
        self._records = RecordReader(self._database, blobs, self._housekeeping, self._note_change)
        self.answers = Answers(self._database, blobs, self._housekeeping, self._note_change)
        self._changes = itertools.count(1)
        self._revision = 0

    @property
    def revision(self) -> int:
        """A number that grows when this process removes a final result, or adds an answer about a result."""
        return self._revision

    def _note_change(self) -> None:
        self._revision = next(self._changes)

    def close(self) -> None:
        """Finish pending writes and close the connections to the database."""
        with suppress(StoreError):  # the last uses are lost then, and the leases expire
            self.leases.release_all()
            self._housekeeping.write_uses()
        self._blobs.close()
        self._server_lock.close()
        self._database.close()

    def reserve(self, *, is_shared: bool) -> None:
        """Let no other server do the jobs of this database until the store is closed.

        With `is_shared`, web servers and workers may share the jobs through a broker.

        Raises:
            StoreError: another server does the jobs.
        """
        self._server_lock.take(is_shared=is_shared)

    def renew_reservation(self) -> None:
        """Repeat `reserve` if the database has forgotten it. A failure is logged."""
        self._server_lock.renew()

    def batch(self, record_id: str = "") -> BlobBatch:
        """Return a batch for the texts of a job. The batch protects the request from removal."""
        batch = self._blobs.batch()
        if record_id:
            self._housekeeping.at_work(record_id, batch)
        return batch

    def submit(
        self,
        request: Request,
        client: str = "",
        *,
        is_live: bool = False,
        job: NewJob | None = None,
        right: DeletionRight | None = None,
    ) -> Record:
        """Return the record of a request; insert it for the client if the request is new.

        This process then has the lease of a new request; with `job`, the job waits for a worker. The result
        of a request that was only submitted with `is_live` is removed early, see `keep`. With `right`, the
        result can be deleted, see `delete`.

        Raises:
            QueueFull, TooManyRequests: the job is refused, and nothing is stored.
            StoreError: the request cannot be stored.
        """
        canonical = canonical_json(request)
        digest = digest_of(canonical)
        with self._database.reading() as session:
            row = self._row_of(session, digest)
        if row is None:
            row = self._insert(
                digest, request, compress(canonical), client, is_live=is_live, job=job, right=right
            )
        elif not is_live:
            self.keep(row.id)
        if not self._deletion_rights.add(row.id, right, client):  # the result was deleted at this moment
            return self.submit(request, client, is_live=is_live, job=job, right=right)
        return self._records.of(row)

    def grant(self, record_id: str, right: DeletionRight | None, client: str) -> bool:
        """Note that a client has submitted an existing request. Return whether it still exists.

        Raises:
            StoreError: the right cannot be stored.
        """
        return self._deletion_rights.add(record_id, right, client)

    def delete(self, record_ids: Sequence[str], holder: str | None, client: str) -> Deleted:
        """Remove a result that only the holder of a token has submitted, with its parts, or give up a right.

        The first ID names the result, the others name its parts, such as its runs. Without a holder,
        everything is removed.

        Raises:
            NotFound: the result does not exist any more.
            Forbidden: the holder has no right to delete it.
            NotFinished: its job, or the job of a part, is unfinished.
            StoreError: the database cannot be written.
        """
        with self._database.writing() as session:
            deleted = self._deletion_rights.give_up(session, record_ids, holder, client)
            self._housekeeping.remove_requests(session, deleted.removed)
        self._note_change()
        self._housekeeping.is_due.set()  # pruning removes the texts
        return deleted

    def known(self, request: Request) -> Record | None:
        """Return the record of a request, or None if it was never submitted."""
        with self._database.reading() as session:
            row = self._row_of(session, digest_of(canonical_json(request)))
        return None if row is None else self._records.of(row)

    def find(self, record_id: str) -> Record:
        """Return the record with this ID.

        Raises:
            NotFound: there is no such record.
        """
        row = None
        if set(record_id) <= _DIGITS:  # PostgreSQL refuses texts with control characters
            with self._database.reading() as session:
                row = session.get(CompilationRow, record_id)
        if row is None:
            raise not_found(record_id)
        return self._records.of(row)

    def private_key(self, result_id: str) -> str:
        """Return the key of a private result or collection; "": it is public.

        Raises:
            NotFound: there is no such result.
        """
        try:
            return self.find(result_id).request.private
        except NotFound:
            with suppress(NotFound):
                return self.collections.find(result_id).private
            raise

    def runs(self, compilation: Request, limit: int, *, imported: bool = False) -> list[Record]:
        """Return the latest runs of the kernel that a request compiles, newest first.

        With `imported`, return the runs from other machines; otherwise the runs of this server.
        """
        query = (
            select(CompilationRow)
            .join(RunRow, RunRow.id == CompilationRow.id)
            .where(RunRow.compilation == _compilation_digest(compilation, imported=imported))
            .order_by(CompilationRow.created.desc(), CompilationRow.id)
            .limit(limit)
        )
        with self._database.reading() as session:
            rows = session.scalars(query).all()
        return [self._records.of(row) for row in rows]  # slow: other threads need the connection

    def private_results(self, holder: str, limit: int, before: datetime | None = None) -> list[Record]:
        """Return the latest private results that the holder of a token has submitted, newest first.

        Runs and live results are left out. With `before`, only older results are returned. None of them
        counts as opened.

        Raises:
            StoreError: the store cannot be read.
        """
        query = private_rows_of(CompilationRow, holder, limit, before).where(
            CompilationRow.id.not_in(select(RunRow.id)), CompilationRow.id.not_in(select(LiveRow.id))
        )
        with self._database.reading() as session:
            rows = session.scalars(query).all()
        return [self._records.of(row, is_opened=False) for row in rows]

    def finish(self, record_id: str, entries: Sequence[Entry], batch: BlobBatch) -> None:
        """Store a result and end its lease: `entries` ends with `Done`, `batch` holds its texts.

        A final result is never replaced; a transient one is stored only while this process has the lease, and
        removed when the job is started again. If another worker has taken the job over meanwhile, its result
        counts, and nothing is stored.

        Raises:
            StoreLocked: another process has locked the database; the call may be repeated.
            StoreError: the result cannot be stored.
        """
        done = entries[-1]
        assert isinstance(done, Done)
        journal = batch.add(encode_journal(entries))
        size = batch.commit()
        with self._database.writing() as session:
            was_held = self.leases.end(session, record_id)
            if done.is_transient and not was_held:
                return  # the job may wait for another worker already
            updated = session.execute(
                update(CompilationRow)
                .where(
                    CompilationRow.id == record_id,
                    CompilationRow.is_final.is_(False),
                    self.leases.is_not_lost(record_id),
                )
                .values(status=done.status, journal=journal, is_final=not done.is_transient)
            )
            if changed_rows(updated):
                self._housekeeping.set_result(session, record_id, size)

    def fail(self, record_id: str, reason: Diagnostic, milliseconds: float) -> None:
        """Store for some seconds why the result of a job cannot be stored, and end its lease.

        `milliseconds` is how long the job took. This method writes no text. If another worker has taken the
        job over meanwhile, nothing is stored.

        Raises:
            StoreError: the database cannot be written.
        """
        content = encode_journal((reason, Done("failed", milliseconds, is_transient=True)))
        with self._database.writing() as session:
            if self.leases.end(session, record_id):
                expires = Now() + FAILURE_SECONDS
                session.execute(delete(FailureRow).where(FailureRow.id == record_id))
                session.add(FailureRow(id=record_id, content=content, expires=expires))

    def admit(self, client: str = "") -> None:
        """Check that there is space for one more result of a client.

        Raises:
            StoreFull: the disk or a quota is full.
            StoreError: nothing can be stored; the message says why.
        """
        self._housekeeping.admit(client)

    def keep(self, record_id: str) -> None:
        """Make a live result an ordinary one, because a caller has requested it."""
        self._housekeeping.keep(record_id)

    def retain(self, record_id: str, client: str) -> None:
        """Keep a result and its runs from being removed, at the client's expense.

        Raises:
            NotFound: there is no such record.
            StoreFull: retained results take their share of a quota.
        """
        self._housekeeping.retain(record_id, client)

    def health(self) -> StoreHealth:
        """Return the state of the store, after testing whether it can be written."""
        return self._housekeeping.health()

    def write_uses(self) -> None:
        """Store which records were opened since the last call. Note whether pruning is due."""
        self._housekeeping.write_uses()
        self._housekeeping.note_old_live()

    @property
    def pruning_is_due(self) -> threading.Event:
        """Set when a quota is nearly reached or live results are to be removed, until the store is pruned."""
        return self._housekeeping.is_due

    def prune(self, *, with_retained: bool = False) -> Pruned:
        """Remove results that exceed the quotas or the age, and blobs that no row refers to.

        Raises:
            StoreError: another process prunes, or the store cannot be written.
        """
        self.leases.remove_abandoned()
        self.followers.remove_expired()
        pruned = self._housekeeping.prune(with_retained=with_retained)
        if pruned.results or pruned.requests:
            self._note_change()
        return pruned

    def verify(self, *, repair: bool = False) -> Iterator[Damage]:
        """Read all blobs, and yield the damaged blobs, and the blobs that a result lacks.

        With `repair`, the results that refer to them are computed again when they are opened.
        """
        return self._housekeeping.verify(repair=repair)

    def statistics(self) -> Statistics:
        """Count the contents of the store. This method reads all rows, and a list of all texts."""
        return gather(self._database, self._blobs)

    def back_up(self, target: Path) -> Copied:
        """Write a backup, also while servers use the store, as a folder or as an archive that ends with .tar.

        Raises:
            InvalidRequest: the database is not SQLite, or the target exists.
            StoreError: the store cannot be read, or the target cannot be written.
        """
        return back_up(self._database_url, self._blobs, target)

    def _row_of(self, session: Session, digest: str) -> CompilationRow | None:
        return session.scalar(select(CompilationRow).where(CompilationRow.digest == digest))

    def _insert(
        self,
        digest: str,
        request: Request,
        compressed: bytes,
        client: str,
        *,
        is_live: bool,
        job: NewJob | None,
        right: DeletionRight | None,
    ) -> CompilationRow:
        """Insert a row with the shortest ID that no other request has; private IDs are long."""
        for record_id in possible_ids(digest, is_private=bool(request.private)):
            values = {
                "id": record_id,
                "digest": digest,
                "created": NowUtc(),
                "target": request.target,
                "triton": request.triton,
                "request": compressed,
                "status": "queued",
                "is_final": False,
            }
            with self._database.writing() as session:
                new = insert_into(session, CompilationRow).values(values).on_conflict_do_nothing()
                created = session.scalar(new.returning(CompilationRow.created))
                if created is None:
                    same = self._row_of(session, digest)
                    if same is not None:  # the same request was submitted at the same moment
                        return same
                    continue  # another request has this ID: use one more digit
                if not self._housekeeping.add(session, record_id, len(compressed), client, request):
                    session.execute(delete(CompilationRow).where(CompilationRow.id == record_id))
                    continue  # a collection has this ID
                if job is None:
                    self.leases.add(session, record_id)
                else:
                    self.jobs.add(session, record_id, job)
                self._deletion_rights.add_first(session, record_id, right)
                if is_live:
                    session.add(LiveRow(id=record_id))
                if request.task == "run":
                    digest_of_runs = _compilation_digest(request, imported=bool(request.imported))
                    session.add(RunRow(id=record_id, compilation=digest_of_runs))
            return CompilationRow(**{**values, "created": created}, journal=None)
        raise AssertionError("two requests with one SHA-256")


def not_found(record_id: str) -> NotFound:
    """Return the error for an ID that is not in the store."""
    return NotFound(
        f"There is no compilation {record_id!r} on this server. Check the link. "
        "Its submitter may have deleted it."
    )


def _compilation_digest(request: Request, *, imported: bool) -> str:
    """Return the digest of the request that compiles the kernel of `request`.

    Imported runs have a different digest: any client can send them, so they take no place in the list of the
    other runs, and are not retained with the compilation.
    """
    digest = digest_of(canonical_json(compilation_of(request)))
    return digest_of(f"imported {digest}".encode()) if imported else digest
