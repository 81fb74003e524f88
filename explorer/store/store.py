"""Requests and results, kept. Blobs are written before the rows that refer to them.

So a process that dies at any moment leaves blobs that nothing refers to at worst, never a row without
its texts, and a request that was accepted is known ever after.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache

import msgspec
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, sessionmaker

from explorer.errors import NotFound
from explorer.model import Done, Request
from explorer.settings import Settings
from explorer.store.address import LONGEST_ID, SHORTEST_ID, base58, canonical_json, digest_of
from explorer.store.blobs import Address, BlobBatch, BlobStore, pack, unpack
from explorer.store.database import CompilationRow, FindingRow, RunRow, open_database
from explorer.store.entries import Entry, decode_journal, encode_journal
from explorer.store.record import Record, Status, compilation_of

_JOURNALS_IN_MEMORY = 64


class Store:
    """All compilations that were ever asked for."""

    def __init__(self, settings: Settings) -> None:
        self._blobs = BlobStore(settings.data_dir.resolve() / "blobs")
        self._engine = open_database(settings.effective_database_url)
        self._sessions = sessionmaker(self._engine)
        self._journal = lru_cache(_JOURNALS_IN_MEMORY)(self._load_journal)

    def close(self) -> None:
        """Finish what is being written and close the connections to the database."""
        self._blobs.close()
        self._engine.dispose()

    def batch(self) -> BlobBatch:
        """Where the texts of a job go while it runs."""
        return self._blobs.batch()

    def submit(self, request: Request) -> Record:
        """Make a request known, or find it where it is known already."""
        canonical = canonical_json(request)
        digest = digest_of(canonical)
        with self._sessions() as session:
            row = self._row_of(session, digest)
        if row is None:
            row = self._insert(digest, request, pack(canonical))
        return self._record(row)

    def known(self, request: Request) -> Record | None:
        """A request, if anybody has ever made it."""
        with self._sessions() as session:
            row = self._row_of(session, digest_of(canonical_json(request)))
        return None if row is None else self._record(row)

    def find(self, compilation_id: str) -> Record:
        """A compilation by its id.

        Raises:
            NotFound: nobody has ever asked for it.
        """
        with self._sessions() as session:
            row = session.get(CompilationRow, compilation_id)
        if row is None:
            raise NotFound(f"There is no compilation {compilation_id!r} here. Check the link.")
        return self._record(row)

    def runs(self, compilation: Request, limit: int) -> list[Record]:
        """The latest runs of what a request compiles, the newest first."""
        query = (
            select(CompilationRow)
            .join(RunRow, RunRow.id == CompilationRow.id)
            .where(RunRow.compilation == _compilation_digest(compilation))
            .order_by(CompilationRow.created.desc(), CompilationRow.id)
            .limit(limit)
        )
        with self._sessions() as session:
            return [self._record(row) for row in session.scalars(query)]

    def finish(self, compilation_id: str, entries: Sequence[Entry], batch: BlobBatch) -> None:
        """Keep a result: `entries` end with `Done`, `batch` holds their texts.

        A final result is never replaced; of transient ones, the latest counts.
        """
        done = entries[-1]
        assert isinstance(done, Done)
        journal = batch.add(encode_journal(entries))
        batch.commit()
        with self._sessions.begin() as session:
            session.execute(
                update(CompilationRow)
                .where(CompilationRow.id == compilation_id, CompilationRow.is_final.is_(False))
                .values(status=done.status, journal=journal, is_final=not done.is_transient)
            )

    def finding(self, record: Record, question: str) -> bytes | None:
        """What was found out about a result before; None if nobody has asked, or it is not stored."""
        if record.journal is None:
            return None
        with self._sessions() as session:
            row = session.get(FindingRow, (record.journal, _about(record, question)))
        return None if row is None else self._blobs.read_if_sound(row.document)

    def keep_finding(self, record: Record, question: str, document: bytes) -> None:
        """Keep what was found out about a stored result."""
        if record.journal is None:
            return
        batch = self.batch()
        address = batch.add(document)
        batch.commit()
        row = FindingRow(journal=record.journal, question=_about(record, question), document=address)
        with self._sessions.begin() as session:
            session.merge(row)

    def _row_of(self, session: Session, digest: str) -> CompilationRow | None:
        return session.scalar(select(CompilationRow).where(CompilationRow.digest == digest))

    def _insert(self, digest: str, request: Request, packed: bytes) -> CompilationRow:
        """Add a row under the shortest id that no other request has."""
        name = base58(digest)
        for length in range(SHORTEST_ID, LONGEST_ID + 1):
            row = CompilationRow(
                id=name[:length],
                digest=digest,
                created=datetime.now(UTC),
                target=request.target,
                triton=request.triton,
                request=packed,
                status="queued",
                is_final=False,
                journal=None,
            )
            with self._sessions(expire_on_commit=False) as session:
                try:
                    session.add(row)
                    if request.task == "run":
                        session.add(RunRow(id=row.id, compilation=_compilation_digest(request)))
                    session.commit()
                except IntegrityError:
                    session.rollback()
                    same = self._row_of(session, digest)
                    if same is not None:  # the same request was submitted at the same moment
                        return same
                    continue  # another request has this id: take one more character
            return row
        raise AssertionError("two requests with one SHA-256")

    def _record(self, row: CompilationRow) -> Record:
        status: Status = msgspec.convert(row.status, Status)
        return Record(
            id=row.id,
            request=msgspec.json.decode(unpack(row.request), type=Request),
            created=row.created,
            status=status,
            entries=() if row.journal is None else self._journal(row.journal),
            is_final=row.is_final,
            journal=row.journal,
            read=self._blobs.read,
        )

    def _load_journal(self, address: Address) -> tuple[Entry, ...]:
        return decode_journal(self._blobs.read(address))


def _compilation_digest(request: Request) -> str:
    """The digest of the request that compiles what `request` compiles or runs."""
    return digest_of(canonical_json(compilation_of(request)))


def _about(record: Record, question: str) -> str:
    """What a finding is filed under, beside the journal.

    What was asked for belongs to it: a source that forges another one's journal, for another target, must
    not answer for it.
    """
    return digest_of(f"{record.id} {question}".encode())
