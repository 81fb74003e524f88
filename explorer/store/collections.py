"""Collections: sessions and matrices. They list results, and need no job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import msgspec
from sqlalchemy import delete, select

from explorer.errors import NotFound
from explorer.store.address import collection_digest, possible_ids
from explorer.store.blob_compression import compress, decompress
from explorer.store.clock import NowUtc
from explorer.store.database import Database, insert_into
from explorer.store.deletion_rights import DeletionRight, DeletionRights, private_rows_of
from explorer.store.housekeeping import Housekeeping
from explorer.store.tables import CollectionRow

CollectionKind = Literal["session", "matrix"]


@dataclass(frozen=True)
class Collection:
    """A session or a matrix. `content` is JSON. `private` is the secret key of a private one, or ""."""

    id: str
    kind: CollectionKind
    private: str
    content: bytes
    created: datetime


class Collections:
    """The collections in a database. Safe to use from many threads."""

    def __init__(
        self, database: Database, housekeeping: Housekeeping, deletion_rights: DeletionRights
    ) -> None:
        self._database = database
        self._housekeeping = housekeeping
        self._deletion_rights = deletion_rights

    def put(
        self,
        kind: CollectionKind,
        content: bytes,
        private: str,
        client: str,
        right: DeletionRight | None = None,
    ) -> Collection:
        """Store a collection for a client. Equal collections are stored once.

        Raises:
            StoreFull: the disk or a quota is full.
            StoreError: the database cannot be written.
        """
        self._housekeeping.admit(client)
        row = self._insert(kind, content, private, client, right)
        if not self._deletion_rights.add(row.id, right, client):  # it was deleted at this moment
            return self.put(kind, content, private, client, right)
        return _collection(row)

    def find(self, collection_id: str) -> Collection:
        """Return the collection with this ID.

        Raises:
            NotFound: there is no such collection.
        """
        row = None
        if collection_id.isascii() and collection_id.isalnum():  # PostgreSQL refuses control characters
            with self._database.reading() as session:
                row = session.get(CollectionRow, collection_id)
        if row is None:
            raise NotFound(f"There is no collection {collection_id!r} on this server. Check the link.")
        self._housekeeping.note_use(row.id)
        return _collection(row)

    def known(self, kind: CollectionKind, content: bytes, private: str) -> Collection | None:
        """Return a collection by its content, if it is stored."""
        digest = collection_digest(kind, private, content)
        with self._database.reading() as session:
            row = session.scalar(select(CollectionRow).where(CollectionRow.digest == digest))
        if row is not None:
            self._housekeeping.note_use(row.id)
        return _collection(row) if row is not None else None

    def private(self, holder: str, limit: int, before: datetime | None = None) -> Sequence[Collection]:
        """Return the latest private collections that the holder of a token has submitted, newest first.

        None of them counts as opened.

        Raises:
            StoreError: the database cannot be read.
        """
        query = private_rows_of(CollectionRow, holder, limit, before)
        with self._database.reading() as session:
            return [_collection(row) for row in session.scalars(query)]

    def _insert(
        self, kind: CollectionKind, content: bytes, private: str, client: str, right: DeletionRight | None
    ) -> CollectionRow:
        """Insert a row with the shortest ID that is free, or return the row of the same collection."""
        digest = collection_digest(kind, private, content)
        same = select(CollectionRow).where(CollectionRow.digest == digest)
        values = {"digest": digest, "kind": kind, "private": private, "content": compress(content)}
        for each in possible_ids(digest, is_private=bool(private)):
            with self._database.writing() as session:
                if (row := session.scalar(same)) is not None:
                    return row
                new = insert_into(session, CollectionRow).values(id=each, created=NowUtc(), **values)
                created = session.scalar(new.on_conflict_do_nothing().returning(CollectionRow.created))
                if created is None:  # another collection has this ID, or the same one has just been stored
                    if (row := session.scalar(same)) is not None:
                        return row
                    continue
                if not self._housekeeping.add(session, each, len(values["content"]), client):
                    session.execute(delete(CollectionRow).where(CollectionRow.id == each))
                    continue
                self._deletion_rights.add_first(session, each, right)
            return CollectionRow(id=each, created=created, **values)
        raise AssertionError("two collections with one SHA-256")


def _collection(row: CollectionRow) -> Collection:
    kind = msgspec.convert(row.kind, CollectionKind)
    return Collection(row.id, kind, row.private, decompress(row.content), row.created)
