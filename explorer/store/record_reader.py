"""Makes records of rows, whose journals and texts are blobs.

A result that has lost its journal or a text becomes unfinished, so that opening it computes it again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial

import msgspec
from sqlalchemy import select

from explorer.errors import DamagedText, StoreError
from explorer.model import Done, Request
from explorer.store.address import Address
from explorer.store.blob_compression import decompress
from explorer.store.blob_store import BlobStore
from explorer.store.clock import Now
from explorer.store.database import Database
from explorer.store.earlier_results import read_earlier
from explorer.store.entries import Entry, decode_journal
from explorer.store.housekeeping import Housekeeping, forget_results
from explorer.store.record import Record, Status
from explorer.store.tables import CompilationRow, FailureRow

_JOURNALS_IN_MEMORY = 64
_log = logging.getLogger(__name__)


class RecordReader:
    """Makes the records of a store. `note_change` is called after a result has become unfinished."""

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        housekeeping: Housekeeping,
        note_change: Callable[[], None],
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._housekeeping = housekeeping
        self._note_change = note_change
        self._journal = lru_cache(_JOURNALS_IN_MEMORY)(self._load_journal)

    def of(self, row: CompilationRow, *, is_opened: bool = True) -> Record:
        """Return the record of a row. A result whose journal is lost is unfinished."""
        if is_opened:
            self._housekeeping.note_use(row.id)
        entries: tuple[Entry, ...] = ()
        status: Status = msgspec.convert(row.status, Status)
        journal, is_final = row.journal, row.is_final
        if journal is None:
            if entries := self._failure(row.id):
                status = "failed"
        else:
            try:
                entries = self._journal(journal)
                if isinstance(done := entries[-1], Done):
                    status = done.status
            except DamagedText:
                self._forget(row.id, journal)
                status, journal, is_final = "queued", None, False
        return Record(
            id=row.id,
            request=msgspec.json.decode(decompress(row.request), type=Request),
            created=row.created,
            status=status,
            entries=entries,
            is_final=is_final,
            journal=journal,
            read=self._blobs.read if journal is None else partial(self._read, row.id, journal),
            stream=None if journal is None else partial(self._stream, row.id, journal),
        )

    def _failure(self, record_id: str) -> tuple[Entry, ...]:
        """Return the entries of a result that could not be stored a moment ago; () if there is none."""
        found = select(FailureRow.content).where(FailureRow.id == record_id, FailureRow.expires >= Now())
        # A database on a full disk may have an earlier revision, which lacks this table.
        with suppress(StoreError), self._database.reading() as session:
            content = session.scalar(found)
            return () if content is None else decode_journal(content)
        return ()

    def _load_journal(self, address: Address) -> tuple[Entry, ...]:
        return read_earlier(decode_journal(self._blobs.read(address)))

    def _read(self, record_id: str, journal: Address, address: Address) -> bytes:
        """Return a text of a result. If it is lost, the result is computed again when it is opened."""
        with self._forgetting(record_id, journal):
            return self._blobs.read(address)

    def _stream(self, record_id: str, journal: Address, address: Address) -> Iterator[bytes]:
        """Yield the parts of a text of a result. If it is lost, the result is computed again."""
        with self._forgetting(record_id, journal):
            yield from self._blobs.stream(address)

    @contextmanager
    def _forgetting(self, record_id: str, journal: Address) -> Iterator[None]:
        """Make a result unfinished if one of its texts is lost."""
        try:
            yield
        except DamagedText as error:
            self._forget(record_id, journal)
            raise DamagedText(
                "A stored text of this result was missing or damaged. The result is computed again: "
                "try again in a few seconds."
            ) from error

    def _forget(self, record_id: str, journal: Address) -> None:
        """Make a result unfinished, unless a different result has replaced it."""
        _log.warning("A text of the result %s is lost. Opening the result computes it again.", record_id)
        with suppress(StoreError), self._database.writing() as session:
            found = session.get(CompilationRow, record_id)
            if found is not None and found.journal == journal:
                forget_results(session, [record_id])
        self._note_change()
