"""Keeps a store within its quotas: counts the size of results, and removes results by age and quota.

The length of all blobs is counted while they are written, and measured when the store is pruned. The
database sums up the size of a client's results. Pruning first removes results from the database, then all
unreferenced blobs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import BigInteger, cast, delete, func, select, update
from sqlalchemy.orm import Session

from explorer.errors import NotFound, StoreError, StoreFull
from explorer.examples import load_examples
from explorer.model import Request
from explorer.store.address import Address
from explorer.store.address_set import AddressSet
from explorer.store.batches import BlobBatch
from explorer.store.blob_store import BlobStore
from explorer.store.clock import NowUtc
from explorer.store.database import Database, insert_into
from explorer.store.entries import blobs_of, decode_journal
from explorer.store.in_threads import in_threads
from explorer.store.retention import (
    FULL_SHARE,
    LIVE_TIME,
    RETAINED_SHARE,
    Damage,
    Plan,
    Pruned,
    Quotas,
    StoreHealth,
    Usage,
    choose,
)
from explorer.store.tables import (
    AnswerRow,
    CollectionRow,
    CompilationRow,
    DeletionRightRow,
    FailureRow,
    FollowerRow,
    JobRow,
    LeaseRow,
    LiveRow,
    RunRow,
    UsageRow,
)

#: The name in `retained_by` for the results of the gallery.
GALLERY = "gallery"
#: Results that share blobs free less space than their counted size.
_MOST_ROUNDS = 5
_ROWS_AT_ONCE = 500  # databases limit the number of parameters
_HEALTH_SECONDS = 5.0
#: The size of the rows of a request without its text, with their indexes: measured with SQLite.
_ROWS_BYTES = 600
_COUNT_SECONDS = 60.0
_TABLES_OF_REQUESTS = (
    RunRow,
    LiveRow,
    LeaseRow,
    JobRow,
    FollowerRow,
    DeletionRightRow,
    UsageRow,
    FailureRow,
    CollectionRow,
    CompilationRow,
)


class Housekeeping:
    """Counts and limits the size of a store. `is_due` is set when pruning would free space."""

    def __init__(self, database: Database, blobs: BlobStore, quotas: Quotas) -> None:
        self.is_due = threading.Event()
        self._database = database
        self._blobs = blobs
        self._quotas = quotas
        self._used: set[str] = set()
        self._at_work: WeakValueDictionary[str, BlobBatch] = WeakValueDictionary()
        self._changing = threading.Lock()
        self._request_bytes = 0
        self._checking = threading.Lock()
        self._health: StoreHealth | None = None
        self._checked = 0.0
        self._requests = 0
        self._counted = -_COUNT_SECONDS

    # --- the size of results ----------------------------------------------------------------------

    def add(
        self, session: Session, record_id: str, size: int, client: str, request: Request | None = None
    ) -> bool:
        """Count a new request or collection, whose text takes `size` bytes. Return whether the ID is free."""
        size += _ROWS_BYTES
        new = insert_into(session, UsageRow).values(
            id=record_id,
            client=client,
            used=NowUtc(),
            request_bytes=size,
            result_bytes=0,
            pinned_by=GALLERY if request is not None and _is_of_gallery(request) else None,
        )
        if session.scalar(new.on_conflict_do_nothing().returning(UsageRow.id)) is None:
            return False
        with self._changing:
            self._request_bytes += size
        return True

    def set_result(self, session: Session, record_id: str, size: int) -> None:
        """Count the blobs of a result instead of the blobs of the result that it replaces."""
        session.execute(update(UsageRow).where(UsageRow.id == record_id).values(result_bytes=size))

    def add_result(self, session: Session, record_id: str, size: int) -> None:
        """Count the blobs of answers about a result."""
        session.execute(
            update(UsageRow).where(UsageRow.id == record_id).values(result_bytes=UsageRow.result_bytes + size)
        )

    def note_use(self, record_id: str) -> None:
        """Remember that a record was opened; `write_uses` stores it."""
        with self._changing:
            self._used.add(record_id)

    def at_work(self, record_id: str, batch: BlobBatch) -> None:
        """Keep a request in use as long as the batch for its result exists: its job may wait for hours."""
        with self._changing:
            self._at_work[record_id] = batch

    def write_uses(self) -> None:
        """Store which records were opened since the last call or have an unfinished job."""
        with self._changing:
            used, self._used = self._used | set(self._at_work), set()
        try:
            with self._database.writing() as session:
                for ids in _chunks(used):
                    session.execute(update(UsageRow).where(UsageRow.id.in_(ids)).values(used=NowUtc()))
        except StoreError:
            with self._changing:
                self._used |= used
            raise

    def keep(self, record_id: str) -> None:
        """Make a live result an ordinary one, unless the database cannot be written."""
        with suppress(StoreError):  # The result is shown even if it cannot be kept.
            with self._database.reading() as session:
                if session.get(LiveRow, record_id) is None:
                    return
            with self._database.writing() as session:
                session.execute(delete(LiveRow).where(LiveRow.id == record_id))

    def note_old_live(self) -> None:
        """Make pruning due if there are old live results; pruning removes all that are older than an hour."""
        old = (
            select(LiveRow.id)
            .join(UsageRow, UsageRow.id == LiveRow.id)
            .where(
                UsageRow.used < self._database.now() - 2 * LIVE_TIME,
                UsageRow.result_bytes > 0,
                UsageRow.retained_by.is_(None),
            )
        )
        with self._database.reading() as session:
            if session.scalar(old.limit(1)) is not None:
                self.is_due.set()

    # --- limits -----------------------------------------------------------------------------------

    def admit(self, client: str) -> None:
        """Check that there is space for one more result of a client.

        Raises:
            StoreFull: the disk or a quota is full.
            StoreError: the store cannot be used.
        """
        quotas = self._quotas
        if self._blobs.needs_disk and (free := self._blobs.free_bytes) < quotas.free_bytes:
            raise StoreFull(
                f"The disk of the data folder has {_size(free)} left; {_size(quotas.free_bytes)} are kept "
                "free. Stored results can be opened. Free space on the disk to compile."
            )
        self._database.open_for_writing()
        self._check_quota(
            self.total_bytes,
            quotas.total_bytes,
            "The stored results take {taken} of {quota}, and nothing can be removed at the moment. "
            "Try again in a minute, or raise TRITON_EXPLORER_STORE_QUOTA_BYTES.",
        )
        if client and quotas.client_bytes:
            with self._database.reading() as session:
                taken = session.scalar(_sum_of(UsageRow.client == client))
            self._check_quota(
                taken,
                quotas.client_bytes,
                "The results submitted from your address take {taken} of {quota}, and the oldest are being "
                "removed. Try again in a minute.",
            )

    @property
    def total_bytes(self) -> int:
        """The size of all blobs and requests."""
        return self._blobs.used_bytes + self._request_bytes

    def retain(self, record_id: str, client: str) -> None:
        """Keep a result and its runs from being removed, at the client's expense.

        Raises:
            NotFound: there is no such record.
            StoreFull: retained results take their share of a quota.
        """
        with self._database.writing() as session:
            usage = session.get(UsageRow, record_id)
            if usage is None:
                raise NotFound(f"There is no result {record_id!r} on this server. Check the link.")
            if usage.retained_by not in (None, GALLERY):  # the gallery does not retain the runs
                return
            size = usage.request_bytes + usage.result_bytes
            for retained, quota in (
                (UsageRow.retained_by == client, self._quotas.client_bytes),
                (UsageRow.retained_by.is_not(None), self._quotas.total_bytes),
            ):
                taken = session.scalar(_sum_of(retained)) + size
                if quota and taken > RETAINED_SHARE * quota:
                    raise StoreFull(
                        f"Retained results may take {_size(int(RETAINED_SHARE * quota))}, which is used up. "
                        "The link still works: a removed result is computed again."
                    )
            usage.retained_by = client
            session.execute(delete(LiveRow).where(LiveRow.id == record_id))

    def _check_quota(self, taken: int, quota: int, message: str) -> None:
        if quota and taken > FULL_SHARE * quota:
            self.is_due.set()
        if quota and taken >= quota:
            raise StoreFull(message.format(taken=_size(taken), quota=_size(quota)))

    # --- pruning ----------------------------------------------------------------------------------

    def prune(self, *, with_retained: bool = False) -> Pruned:
        """Remove results that exceed the quotas or the age, and blobs that no row refers to.

        Raises:
            StoreError: another process prunes, or the store cannot be written.
        """
        self.is_due.clear()
        blobs = self._collect()
        results: set[str] = set()
        requests: set[str] = set()
        has_answers = True
        for _ in range(_MOST_ROUNDS):
            now = self._database.now()
            self.write_uses()
            # Removing more results instead of young blobs would free no space sooner.
            size = self.total_bytes - self._blobs.young_bytes
            plan = choose(self._usages(), size, self._quotas, now, with_retained=with_retained)
            if not plan and not (has_answers and plan.answers):
                break
            self._remove(plan)
            blobs += self._collect()
            has_answers = False
            results |= plan.results
            requests |= plan.requests
        return Pruned(len(results), len(requests), blobs, self.total_bytes)

    def _usages(self) -> list[Usage]:
        """Return the usage of all records. The runs of a retained compilation are retained."""
        retained = (
            select(CompilationRow.digest)
            .join(UsageRow, UsageRow.id == CompilationRow.id)
            .where(UsageRow.retained_by.is_not(None), UsageRow.retained_by != GALLERY)
        )
        runs = select(RunRow.id).where(RunRow.compilation.in_(retained))
        live = select(CompilationRow.id, CompilationRow.status).join(LiveRow, LiveRow.id == CompilationRow.id)
        with self._database.reading() as session:
            of_retained = set(session.scalars(runs))
            live_status = {row.id: row.status for row in session.execute(live)}
            return [
                Usage(
                    row.id,
                    row.client,
                    row.used,
                    row.request_bytes,
                    row.result_bytes,
                    row.retained_by is not None or row.id in of_retained,
                    live_status.get(row.id, ""),
                )
                for row in session.scalars(select(UsageRow))
            ]

    def _remove(self, plan: Plan) -> None:
        """Remove the planned results and requests, except those opened since the plan was made."""
        with self._database.writing() as session:
            with self._changing:
                plan.results -= self._used
                plan.requests -= self._used
            plan.requests -= set(session.scalars(select(JobRow.id)))
            forget_results(session, plan.results | plan.requests)
            _forget_answers(session, plan.answers)
            self.remove_requests(session, plan.requests)

    def remove_requests(self, session: Session, record_ids: Iterable[str]) -> None:
        """Remove requests with their results; the next pruning removes the blobs."""
        for ids in _chunks(record_ids):
            for table in _TABLES_OF_REQUESTS:
                session.execute(delete(table).where(table.id.in_(ids)))

    def _collect(self) -> int:
        """Remove unreferenced blobs, and measure the rest. Return the number of removed blobs."""
        with self._database.writing() as session:
            journals = select(CompilationRow.journal).where(CompilationRow.journal.is_not(None))
            session.execute(delete(AnswerRow).where(AnswerRow.journal.not_in(journals)))
            size = session.execute(select(_sum(UsageRow.request_bytes))).scalar_one()
        removed = self._blobs.remove_unreferenced(self._referenced)
        with self._changing:
            self._request_bytes = size
        return removed

    def _referenced(self) -> AddressSet:
        """Return the addresses that rows refer to. Measure results whose size is unknown."""
        referenced = AddressSet()
        with self._database.reading() as session:
            sizes = {row.id: row.result_bytes for row in session.scalars(select(UsageRow))}
            journals = _journals(session)
            for document in session.scalars(select(AnswerRow.document)):
                referenced.add(document)
        unmeasured = {}
        for (record_id, _), addresses in in_threads(lambda each: self._blobs_of(each[1]), journals):
            for address in addresses:
                referenced.add(address)
            if not sizes.get(record_id):
                unmeasured[record_id] = sum(map(self._blobs.stored_bytes, addresses))
        with self._database.writing() as session:
            for record_id, size in unmeasured.items():
                session.execute(  # unless the result has been stored, and counted, since
                    update(UsageRow)
                    .where(UsageRow.id == record_id, UsageRow.result_bytes == 0)
                    .values(result_bytes=size)
                )
        return referenced

    def _blobs_of(self, journal: Address) -> set[Address]:
        """Return a journal and the blobs that it refers to; nothing if the journal is damaged."""
        data = self._blobs.read_if_sound(journal)
        return set() if data is None else {journal, *blobs_of(decode_journal(data))}

    # --- damage -------------------------------------------------------------------------------------

    def verify(self, *, repair: bool = False) -> Iterator[Damage]:
        """Read all blobs, and yield the damaged blobs, and the blobs that a result lacks.

        With `repair`, the results that refer to them are computed again when they are opened.
        """
        sound: set[Address] = set()
        damaged: set[Address] = set()
        addresses = (address for address, _ in self._blobs.sizes())
        for address, frame in in_threads(self._blobs.read_frame, addresses):
            (damaged if frame is None else sound).add(address)
        with self._database.reading() as session:
            journals = _journals(session)
        seen: set[Address] = set()

        def blobs_of_result(each: tuple[str, Address]) -> set[Address]:
            _, journal = each
            return {journal} if journal in damaged else self._blobs_of(journal) or {journal}

        for (record_id, _), wanted in in_threads(blobs_of_result, journals):
            # A blob in neither set may have been stored meanwhile.
            unsound = wanted - sound
            lost = {each for each in unsound if each in damaged or not self._blobs.stored_bytes(each)}
            seen |= lost
            for address in sorted(lost):
                yield Damage(address, record_id, address not in damaged)
            if lost and repair:
                with self._database.writing() as session:
                    forget_results(session, [record_id])
        for address in sorted(damaged):
            if address not in seen:
                yield Damage(address, "", is_missing=False)
            if repair:
                self._blobs.remove(address)

    # --- health -------------------------------------------------------------------------------------

    def health(self) -> StoreHealth:
        """Return the state of the store. At most every few seconds, test whether it can be written."""
        is_old = time.monotonic() - self._checked > _HEALTH_SECONDS
        if self._checking.acquire(blocking=self._health is None):
            try:
                if self._health is None or is_old:
                    self._health = self._examine()
                    self._checked = time.monotonic()
            finally:
                self._checking.release()
        assert self._health is not None
        return self._health

    def _examine(self) -> StoreHealth:
        problem, free = "", 0
        try:
            free = self._blobs.free_bytes
            self._blobs.check()
            self.admit("")
            self._database.check()
        except StoreError as error:
            problem = error.detail
        return StoreHealth(problem, free, self.total_bytes, self._quotas.total_bytes, self._count_requests())

    def _count_requests(self) -> int:
        """Count the requests, at most every minute: the database reads all of them."""
        if time.monotonic() - self._counted > _COUNT_SECONDS:
            with suppress(StoreError), self._database.reading() as session:
                self._requests = session.execute(select(func.count()).select_from(UsageRow)).scalar_one()
            self._counted = time.monotonic()
        return self._requests


def forget_results(session: Session, record_ids: Iterable[str]) -> None:
    """Make results unfinished, so that they are computed again when they are opened."""
    for ids in _chunks(record_ids):
        session.execute(
            update(CompilationRow)
            .where(CompilationRow.id.in_(ids))
            .values(status="queued", journal=None, is_final=False)
        )
        session.execute(update(UsageRow).where(UsageRow.id.in_(ids)).values(result_bytes=0))


def _forget_answers(session: Session, record_ids: Iterable[str]) -> None:
    """Remove the answers about results. The results are measured again when blobs are removed."""
    for ids in _chunks(record_ids):
        journals = select(CompilationRow.journal).where(CompilationRow.id.in_(ids))
        session.execute(delete(AnswerRow).where(AnswerRow.journal.in_(journals)))
        session.execute(update(UsageRow).where(UsageRow.id.in_(ids)).values(result_bytes=0))


def _journals(session: Session) -> list[tuple[str, Address]]:
    """Return the IDs of all results, and their journals."""
    rows = session.execute(select(CompilationRow.id, CompilationRow.journal))
    return [(row.id, row.journal) for row in rows if row.journal is not None]


def _sum_of(condition: Any) -> Any:
    return select(_sum(UsageRow.request_bytes + UsageRow.result_bytes)).where(condition)


def _sum(number: Any) -> Any:
    """Return the sum of a column, 0 without rows. PostgreSQL's own type of a sum is a decimal number."""
    return cast(func.coalesce(func.sum(number), 0), BigInteger)


def _chunks(ids: Iterable[str]) -> Iterator[Sequence[str]]:
    listed = list(ids)
    for first in range(0, len(listed), _ROWS_AT_ONCE):
        yield listed[first : first + _ROWS_AT_ONCE]


def _is_of_gallery(request: Request) -> bool:
    """Return whether the request compiles an example as the page does, without other options."""
    return any(
        request == Request(example.source, request.target, request.triton) for example in load_examples()
    )


def _size(number: int) -> str:
    return f"{number / 2**20:,.0f} MiB"
