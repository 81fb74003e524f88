"""Answers to queries about results: rows that refer to blobs, by the journal of the result and the query."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from sqlalchemy import select

from explorer.errors import StoreError
from explorer.store.address import digest_of
from explorer.store.blob_store import BlobStore
from explorer.store.database import Database, insert_into
from explorer.store.housekeeping import Housekeeping
from explorer.store.record import Record
from explorer.store.tables import AnswerRow

_log = logging.getLogger(__name__)


class Answers:
    """The answers of a store. `note_change` is called after answers were added."""

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

    def find(self, record: Record, query: str) -> bytes | None:
        """Return the stored answer to a query about a result, or None."""
        if record.journal is None:
            return None
        with self._database.reading() as session:
            row = session.get(AnswerRow, (record.journal, _answer_key(record, query)))
        return None if row is None else self._blobs.read_if_sound(row.document)

    def reader(self, record: Record) -> Callable[[str], bytes | None]:
        """Return a function from a query to the answer about a result that is stored now, or None.

        For many queries, the function is faster than `find`: it uses one database query.
        """
        with self._database.reading() as session:
            stored = select(AnswerRow.query, AnswerRow.document).where(AnswerRow.journal == record.journal)
            addresses = {row.query: row.document for row in session.execute(stored)}

        def read(query: str) -> bytes | None:
            address = addresses.get(_answer_key(record, query))
            return None if address is None else self._blobs.read_if_sound(address)

        return read

    def keep(self, record: Record, answers: Mapping[str, bytes]) -> None:
        """Store the answers to queries about a stored result, by query, if they can be stored."""
        if record.journal is None:
            return
        try:
            self._housekeeping.admit("")
            batch = self._blobs.batch()
            addresses = {_answer_key(record, query): batch.add(answer) for query, answer in answers.items()}
            size = batch.commit()
            with self._database.writing() as session:
                # This update comes first: it makes threads with the same answers wait for each other.
                self._housekeeping.add_result(session, record.id, size)
                new = insert_into(session, AnswerRow)
                session.execute(
                    new.on_conflict_do_update(
                        index_elements=["journal", "question"], set_={"document": new.excluded.document}
                    ),
                    [
                        {"journal": record.journal, "question": key, "document": address}
                        for key, address in addresses.items()
                    ],
                )
            self._note_change()
        except StoreError as error:  # queries can compute the answers again
            _log.warning("Answers about %s are not stored: %s", record.id, error.detail)


def _answer_key(record: Record, query: str) -> str:
    """Return the key of an answer, beside the journal.

    The key covers the request: a source may forge the journal of a different request, for another target, and
    must not answer for it.
    """
    return digest_of(f"{record.id} {query}".encode())
