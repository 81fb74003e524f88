"""The tables, and the only place that knows which database they are in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    DateTime,
    Dialect,
    Engine,
    LargeBinary,
    String,
    TypeDecorator,
    create_engine,
    event,
    select,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from explorer.errors import StoreError
from explorer.store.address import LONGEST_ID

SCHEMA_VERSION = 1
_BUSY_TIMEOUT_SECONDS = 30


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC, also in databases that keep no time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Add the time zone that SQLite has dropped."""
        return value if value is None or value.tzinfo else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    pass


class SchemaRow(Base):
    """One row: the version of the tables."""

    __tablename__ = "schema"

    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class CompilationRow(Base):
    """A compilation: known from its submission on, finished once `journal` is set.

    `digest` is the whole hash of the request, `id` as much of it as tells it from all others.
    `request` is its canonical JSON, compressed. `journal` is the address of a blob.
    """

    __tablename__ = "compilation"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    created: Mapped[datetime] = mapped_column(UtcDateTime())
    target: Mapped[str] = mapped_column(String(64))
    triton: Mapped[str] = mapped_column(String(64))
    request: Mapped[bytes] = mapped_column(LargeBinary())
    status: Mapped[str] = mapped_column(String(16))
    is_final: Mapped[bool] = mapped_column(default=False)
    journal: Mapped[str | None] = mapped_column(String(64), default=None)


class FindingRow(Base):
    """Something that was found out about a result, once. `document` is the address of a blob."""

    __tablename__ = "finding"

    journal: Mapped[str] = mapped_column(String(64), primary_key=True)
    question: Mapped[str] = mapped_column(String(64), primary_key=True)
    document: Mapped[str] = mapped_column(String(64))


class RunRow(Base):
    """A run of a kernel. `compilation` is the digest of the request that compiles what it runs."""

    __tablename__ = "run"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    compilation: Mapped[str] = mapped_column(String(64), index=True)


def open_database(url: str) -> Engine:
    """Connect, and make the tables where there are none.

    Raises:
        StoreError: it cannot be reached, or a newer version of this program has made it.
    """
    engine = create_engine(url, pool_pre_ping=not url.startswith("sqlite"))
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _configure_sqlite)
    try:
        Base.metadata.create_all(engine)
        with Session(engine) as session, session.begin():
            found = session.scalar(select(SchemaRow.version))
            if found is None:
                session.add(SchemaRow(version=SCHEMA_VERSION))
    except SQLAlchemyError as error:
        raise StoreError(f"The database {engine.url!r} cannot be opened: {error}.") from error
    if found is not None and found != SCHEMA_VERSION:
        raise StoreError(
            f"The database has tables of version {found}, this program knows version {SCHEMA_VERSION}. "
            "Use the version of triton-explorer that made it, or another data folder."
        )
    return engine


def _configure_sqlite(connection: Any, _record: Any) -> None:
    """Readers beside a writer, and a commit that is on the disk when it returns."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_SECONDS * 1000}")
    cursor.close()
