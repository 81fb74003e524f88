"""Opens the database, and its sessions, which raise database failures as `StoreError`."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from select import POLLIN, poll
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import ArgumentError, IntegrityError, InvalidatePoolError, SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from explorer.errors import SettingsError, StoreError, StoreFull, StoreLocked
from explorer.monitoring.metrics import database_errors, database_seconds
from explorer.store.clock import NowUtc
from explorer.store.failures import database_failures, failure_of
from explorer.store.tables import REVISIONS, Base, CompilationRow, RevisionRow

if TYPE_CHECKING:
    from sqlalchemy import CursorResult, Result, Table
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.engine import Dialect, ExceptionContext
    from sqlalchemy.pool import ConnectionPoolEntry

_LOCK_SECONDS = 5
#: A write-ahead log of SQLite that has grown beyond this size, because of a long read, is truncated
#: afterwards.
_MOST_LOG_BYTES = 64 << 20
#: The statements with separate metrics.
_STATEMENTS = ("SELECT", "INSERT", "UPDATE", "DELETE")
_MIGRATION_SECONDS = 60
#: The advisory lock of PostgreSQL that a process holds while it creates or migrates the tables.
_MIGRATION_LOCK = 0x7472_6974_6F6E
for _failure in (StoreError, StoreFull, StoreLocked):
    database_errors.labels(_failure.kind)  # a rate needs the 0 before the first error
#: Readers of SQLite do not wait for writers to return a connection.
_SQLITE: dict[str, Any] = {"max_overflow": -1}
#: Connections of one process: PostgreSQL accepts 100 of all processes by default. Connections beyond
#: `pool_size` would be opened anew each time.
_CONNECTIONS = 15
#: How long a connection to PostgreSQL may be unused until it is pinged before its next use.
_UNUSED_SECONDS = 1.0
#: The key of the last use of a connection in its pool record.
_USED = "triton_explorer_used"
_POSTGRESQL: dict[str, Any] = {
    "pool_size": _CONNECTIONS,
    "max_overflow": 0,
    "connect_args": {"options": f"-c lock_timeout={_LOCK_SECONDS}s"},
}
#: The drivers that can be used, with the options of their engines.
_OPTIONS = {
    "sqlite": _SQLITE,
    "sqlite+pysqlite": _SQLITE,
    "postgresql+psycopg": _POSTGRESQL,
}


class Database:
    """The sessions of a database. A database on a full or read-only disk can still be read.

    Raises:
        SettingsError: the URL does not name a supported database.
        StoreError: the database cannot be opened, or its tables have an unknown revision.
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
        self._open_sessions()

    @property
    def is_postgresql(self) -> bool:
        """Whether this is a database of PostgreSQL, which can notify web servers and workers."""
        return self._engine.dialect.name == "postgresql"

    @property
    def url(self) -> URL:
        """The URL, whose `repr` hides the password."""
        return make_url(self._url)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Open a connection without transactions.

        Raises:
            StoreError: the database cannot be used.
        """
        with (
            database_failures(),
            self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
        ):
            yield connection

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def reading(self, *, in_transaction: bool = False) -> Iterator[Session]:
        """Open a session that changes nothing.

        PostgreSQL can return the rows of a statement in parts (`yield_per`) only in a transaction.

        Raises:
            StoreError: the database cannot be read.
        """
        sessions = self._sessions if in_transaction else self._sessions_without_transactions
        with database_failures(), sessions() as session:
            yield session

    @contextmanager
    def writing(self, *, is_durable: bool = True) -> Iterator[Session]:
        """Open a session that is committed at the end.

        Without `is_durable`, a failure of the database may lose the change: PostgreSQL does not wait for its
        disk.

        Raises:
            StoreError: the database cannot be written.
        """
        self.open_for_writing()
        with database_failures(), self._sessions.begin() as session:
            if not is_durable and self.is_postgresql:
                session.execute(text("SET LOCAL synchronous_commit = off"))
            yield session

    def now(self) -> datetime:
        """Return the time of the database.

        Raises:
            StoreError: the database cannot be read.
        """
        with self.reading() as session:
            return session.execute(select(NowUtc())).scalar_one()

    def check(self) -> None:
        """Write an existing value to the database again.

        Raises:
            StoreError: the database cannot be written; the message says why.
        """
        with self.writing() as session:
            session.execute(update(RevisionRow).values(revision=RevisionRow.revision))

    def open_for_writing(self) -> None:
        """Open a database for writing that could only be read when it was opened.

        Raises:
            StoreError: the database still cannot be written; the message says why.
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
            self._open_sessions()
            self._failure = None
        before.dispose()

    def _open_sessions(self) -> None:
        self._sessions = sessionmaker(self._engine, expire_on_commit=False)
        # Most readers execute one statement. SQLite begins no transaction for it, PostgreSQL does.
        autocommit = {"isolation_level": "AUTOCOMMIT"} if self.is_postgresql else {}
        engine = self._engine.execution_options(**autocommit)
        self._sessions_without_transactions = sessionmaker(engine, expire_on_commit=False)


def open_database(url: str) -> Engine:
    """Connect to a database. Create its tables if it has none, or migrate them to the newest revision.

    Processes that do so at the same moment wait for each other.

    Raises:
        SettingsError: the URL does not name a supported database.
        StoreError: the database cannot be opened, or its tables have an unknown revision.
    """
    engine = _connect(url)
    try:
        with database_failures():
            with engine.connect() as connection:
                found = _find_revision(connection)
            if found != REVISIONS[-1]:
                _prepare_tables(engine)
    except StoreError as error:
        engine.dispose()
        raise type(error)(f"Cannot open the database {engine.url!r}: {error.detail}") from error
    return engine


def open_read_only(url: str) -> Engine | None:
    """Connect to an SQLite database on a full or read-only disk; None if the URL names no such file.

    Its tables may have an earlier revision: the columns that are read exist in every revision. Even to read a
    database, SQLite needs new files beside it, unless the database is declared immutable. It is immutable: a
    database without a write-ahead log was closed by its last process.

    Raises:
        StoreError: the tables have an unknown revision.
    """
    engine = _connect(url)
    path = Path(engine.url.database or "")
    log = path.with_name(f"{path.name}-wal")
    if engine.dialect.name != "sqlite" or not path.is_file() or (log.is_file() and log.stat().st_size):
        return None
    read_only = create_engine(f"sqlite:///file:{quote(str(path))}?immutable=1&mode=ro&uri=true", **_SQLITE)
    try:
        with read_only.connect() as connection:
            _find_revision(connection)
            connection.execute(select(CompilationRow.id).limit(1))
    except SQLAlchemyError:
        return None
    return read_only


def insert_into(session: Session, row: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """Return a statement that inserts into a table and supports `ON CONFLICT`."""
    table = cast("Table", row.__table__)
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # slow to import, unless its driver is imported already

    return postgresql.insert(table)


def changed_rows(result: Result[Any]) -> int:
    """Return the number of rows that a statement has updated or removed."""
    return cast("CursorResult[Any]", result).rowcount


def _connect(url: str) -> Engine:
    """Return an engine for the URL of a database, without connecting.

    Raises:
        SettingsError: the URL does not name a supported database.
    """
    try:
        parsed = make_url(url)
        if parsed.drivername not in _OPTIONS:
            raise SettingsError(
                f"The database {parsed!r} has the driver {parsed.drivername!r}. Use {' or '.join(_OPTIONS)}."
            )
        engine = create_engine(parsed, **_OPTIONS[parsed.drivername])
    except ArgumentError as error:
        raise SettingsError(f"TRITON_EXPLORER_DATABASE_URL is not the URL of a database: {error}.") from error
    except ImportError as error:
        raise SettingsError(
            "The driver of PostgreSQL is not installed. Install triton-explorer[postgresql]."
        ) from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _configure_sqlite)
    else:
        event.listen(engine, "checkin", _note_use)
        event.listen(engine, "checkout", partial(_check_connection, engine.dialect))
    event.listen(engine, "before_cursor_execute", _begin_statement)
    event.listen(engine, "after_cursor_execute", _end_statement)
    event.listen(engine, "handle_error", _count_error)
    return engine


def _find_revision(connection: Connection) -> str | None:
    """Return the revision of the tables. None: there are no tables, or they are older than revisions.

    Raises:
        StoreError: the revision is unknown.
    """
    if not connection.dialect.has_table(connection, RevisionRow.__tablename__):
        return None
    found = connection.scalar(select(RevisionRow.revision))
    if found is not None and found not in REVISIONS:
        raise StoreError(
            f"The tables have the revision {found}; this program knows those up to {REVISIONS[-1]}. Use the "
            "version of triton-explorer that created them, or another data folder."
        )
    return found


def _prepare_tables(engine: Engine) -> None:
    """Create the tables, or migrate them to the newest revision, unless another process has just done so."""
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_MIGRATION_SECONDS}s'")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        found = _find_revision(connection)
        if found is None and not inspect(connection).has_table(CompilationRow.__tablename__):
            Base.metadata.create_all(connection)
            connection.execute(insert(RevisionRow).values(revision=REVISIONS[-1]))
        elif found != REVISIONS[-1]:
            from explorer.store.migrations import upgrade  # imports Alembic, which is slow

            upgrade(connection)


def _begin_statement(
    _connection: Any, _cursor: Any, _text: Any, _values: Any, context: Any, _many: Any
) -> None:
    if context is not None:  # None for a "BEGIN" of this module
        context.triton_explorer_begin = time.perf_counter()


def _end_statement(_connection: Any, _cursor: Any, text: str, _values: Any, context: Any, _many: Any) -> None:
    if context is not None:
        word = text[:6].upper()
        seconds = time.perf_counter() - context.triton_explorer_begin
        database_seconds.labels(word.lower() if word in _STATEMENTS else "other").observe(seconds)


def _count_error(context: ExceptionContext) -> None:
    if context.sqlalchemy_exception is not None and not isinstance(
        context.sqlalchemy_exception, IntegrityError
    ):
        database_errors.labels(failure_of(context.sqlalchemy_exception).kind).inc()


def _note_use(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info[_USED] = time.monotonic()


def _check_connection(dialect: Dialect, connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
    """Replace all connections if PostgreSQL has closed an unused connection.

    A recently used connection is pinged only if data has arrived, such as its end: each job executes dozens
    of statements.
    """
    unused_seconds = time.monotonic() - record.info.get(_USED, time.monotonic())
    poller = poll()
    try:
        poller.register(connection.fileno(), POLLIN)
        if unused_seconds > _UNUSED_SECONDS or poller.poll(0):
            dialect.do_ping(connection)
    except dialect.loaded_dbapi.Error as error:
        raise InvalidatePoolError from error


def _configure_sqlite(connection: Any, _record: Any) -> None:
    """Let readers work beside a writer, and make a commit durable before it returns."""
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={_LOCK_SECONDS * 1000}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute(f"PRAGMA journal_size_limit={_MOST_LOG_BYTES}")
    cursor.close()
