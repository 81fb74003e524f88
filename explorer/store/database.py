"""The database: how it is opened, and sessions that report its failures as those of the store."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Engine, String, create_engine, event, func, insert, literal, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from explorer.errors import StoreError, StoreLocked
from explorer.store.failures import database_failures
from explorer.store.tables import SCHEMA_VERSION, Base, CompilationRow, SchemaRow, UsageRow, UtcDateTime

_BUSY_TIMEOUT_SECONDS = 5


class Database:
    """The sessions of a database. What is on a disk that is full or read-only can be read.

    Raises:
        StoreError: the database cannot be opened, or its tables have another version.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._opening = threading.Lock()
        self._failure: StoreError | None = None
        try:
            self._engine = open_database(url)
        except StoreLocked:
            raise
        except StoreError as error:
            engine = open_read_only(url)
            if engine is None:
                raise
            self._engine, self._failure = engine, error
        self._sessions = sessionmaker(self._engine, expire_on_commit=False)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a session that changes nothing.

        Raises:
            StoreError: the database cannot be read.
        """
        with database_failures(), self._sessions() as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Open a session that is committed at the end.

        Raises:
            StoreError: the database cannot be written.
        """
        self.open_for_writing()
        with database_failures(), self._sessions.begin() as session:
            yield session

    def check(self) -> None:
        """Write to the database what it has already.

        Raises:
            StoreError: it cannot be written; the message says why.
        """
        with self.writing() as session:
            session.execute(update(SchemaRow).values(version=SCHEMA_VERSION))

    def open_for_writing(self) -> None:
        """Open a database again that could only be read when it was opened.

        Raises:
            StoreError: it still cannot be written; the message says why.
        """
        with self._opening:
            if self._failure is None:
                return
            try:
                engine = open_database(self._url)
            except StoreError as error:
                self._failure = error
                raise
            before, self._engine = self._engine, engine
            self._sessions = sessionmaker(engine, expire_on_commit=False)
            self._failure = None
        before.dispose()


def open_database(url: str) -> Engine:
    """Connect to a database and create missing tables and rows of usage.

    Raises:
        StoreError: the database cannot be opened, or its tables have another version.
    """
    engine = create_engine(url, **_pool(url))
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _configure_sqlite)
    try:
        with database_failures():
            found = _create_tables(engine)
    except StoreError as error:
        raise type(error)(f"Cannot open the database {engine.url!r}: {error.detail}") from error
    _check_version(engine, found)
    return engine


def open_read_only(url: str) -> Engine | None:
    """Connect to an SQLite database on a disk that is full or read-only; None if it is no such file.

    SQLite needs new files beside the database even to read it, unless it is told that nobody writes it. That
    is true: a database without a write-ahead log was closed by its last process.

    Raises:
        StoreError: its tables have another version.
    """
    engine = create_engine(url)
    path = Path(engine.url.database or "")
    log = path.with_name(f"{path.name}-wal")
    if engine.dialect.name != "sqlite" or not path.is_file() or (log.is_file() and log.stat().st_size):
        return None
    read_only = create_engine(f"sqlite:///file:{quote(str(path))}?immutable=1&mode=ro&uri=true", **_pool(url))
    try:
        with Session(read_only) as session:
            found = session.scalar(select(SchemaRow.version))
    except SQLAlchemyError:
        return None
    _check_version(read_only, found)
    return read_only


def _create_tables(engine: Engine) -> int | None:
    """Create what is missing, and return the version of the tables that were there."""
    Base.metadata.create_all(engine)
    with Session(engine) as session, session.begin():
        found = session.scalar(select(SchemaRow.version))
        if found is None:
            session.add(SchemaRow(version=SCHEMA_VERSION))
        elif session.scalar(_rows_without_usage().limit(1)):
            _add_usage(session)
    return found


def _rows_without_usage() -> Any:
    return select(CompilationRow.id).where(CompilationRow.id.not_in(select(UsageRow.id)))


def _add_usage(session: Session) -> None:
    """Add the usage of results that an earlier version stored, as if they were opened now."""
    columns = [column.name for column in UsageRow.__table__.columns]
    rows = select(
        CompilationRow.id,
        literal(""),
        literal(datetime.now(UTC), UtcDateTime()),
        func.length(CompilationRow.request),
        literal(0),
        literal(None, String()),
    ).where(CompilationRow.id.in_(_rows_without_usage()))
    session.execute(insert(UsageRow).from_select(columns, rows))


def _check_version(engine: Engine, found: int | None) -> None:
    if found is not None and found != SCHEMA_VERSION:
        raise StoreError(
            f"The database {engine.url!r} has tables of version {found}; this program needs version "
            f"{SCHEMA_VERSION}. Use the version of triton-explorer that created it, or another data folder."
        )


def _pool(url: str) -> dict[str, Any]:
    """Return options of the connections: readers of SQLite do not wait for writers to return one."""
    return {"max_overflow": -1} if url.startswith("sqlite") else {"pool_pre_ping": True}


def _configure_sqlite(connection: Any, _record: Any) -> None:
    """Let readers work beside a writer, and make a commit durable before it returns."""
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_SECONDS * 1000}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()
