"""The tables of the database."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import BigInteger, DateTime, Dialect, Double, LargeBinary, String, Text, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from explorer.store.address import LONGEST_ID

#: The characters of the name of an account.
LONGEST_ACCOUNT = 50
#: The characters of the name of a follower: its client, and the name that the follower has chosen.
LONGEST_FOLLOWER = 200
#: The revisions of the tables, oldest first. `explorer.store.migrations` migrates from each to the next.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008")


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC, also from databases that store no time zone or return a different one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        """Return the time in UTC. SQLite stores no time zone, PostgreSQL returns that of the connection."""
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    pass


class RevisionRow(Base):
    """The revision of the tables, in a single row, as Alembic stores it."""

    __tablename__ = "alembic_version"

    revision: Mapped[str] = mapped_column("version_num", String(32), primary_key=True)


class CompilationRow(Base):
    """A compilation or a run: inserted when it is submitted, finished once `journal` is set.

    `digest` is the SHA-256 of the request, `id` its shortest unique prefix in base 58. `request` is its
    canonical JSON, compressed. `journal` is the address of a blob.
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


class CollectionRow(Base):
    """A session or a matrix, which lists results and needs no job.

    `digest` is the SHA-256 of `kind`, `private` and `content`. `id` is its shortest prefix in base 58 that no
    other collection or compilation has; a collection of an earlier revision has kept its ID. `content` is
    JSON, compressed. `private` is the secret key of a private collection, or "".
    """

    __tablename__ = "collection"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str] = mapped_column(String(16))
    private: Mapped[str] = mapped_column(Text())
    content: Mapped[bytes] = mapped_column(LargeBinary())
    created: Mapped[datetime] = mapped_column(UtcDateTime())


class FailureRow(Base):
    """Why the result of a job could not be stored. `id` names the record, which is unfinished.

    `content` is a journal: the entries that are left. They count until `expires`, in seconds since 1970 by
    the clock of the database.
    """

    __tablename__ = "failure"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary())
    expires: Mapped[float] = mapped_column(Double())


class AnswerRow(Base):
    """The answer to a query about a result. `document` is the address of a blob."""

    __tablename__ = "finding"

    journal: Mapped[str] = mapped_column(String(64), primary_key=True)
    query: Mapped[str] = mapped_column("question", String(64), primary_key=True)
    document: Mapped[str] = mapped_column(String(64))


class RunRow(Base):
    """A run of a kernel. `compilation` is the digest of the request that compiles the kernel.

    Runs that were sent from other machines have a digest of that digest.
    """

    __tablename__ = "run"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    compilation: Mapped[str] = mapped_column(String(64), index=True)


class LiveRow(Base):
    """A result with this `id` that only typing has requested: nobody has opened, shared or submitted it."""

    __tablename__ = "live"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)


class UsageRow(Base):
    """The size of the row of `compilation` or `collection` with the same `id`, and its users.

    `client` is the submitter, or "" if unknown. `used` is when the result was last opened. `result_bytes` is
    the length of all its blobs, including blobs that other results share. `retained_by` is a client that has
    retained it.
    """

    __tablename__ = "usage"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    client: Mapped[str] = mapped_column(String(64), index=True)
    used: Mapped[datetime] = mapped_column(UtcDateTime())
    request_bytes: Mapped[int] = mapped_column(BigInteger())
    result_bytes: Mapped[int] = mapped_column(BigInteger())
    retained_by: Mapped[str | None] = mapped_column("pinned_by", String(64), index=True)


class DeletionRightRow(Base):
    """A submitter of the result with this `id`: the hash of a token, or "" for others without a token."""

    __tablename__ = "claim"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    holder: Mapped[str] = mapped_column(String(64), primary_key=True, index=True)


class TokenRow(Base):
    """An API token of an account: its hash. `roles` are separated by spaces.

    `name` is chosen by the account. The token is refused from `expires` on. `used` is when it was last sent,
    up to some minutes before.
    """

    __tablename__ = "token"

    id: Mapped[str] = mapped_column(String(16), primary_key=True)
    holder: Mapped[str] = mapped_column(String(64), unique=True)
    account: Mapped[str] = mapped_column(String(LONGEST_ACCOUNT))
    roles: Mapped[str] = mapped_column(String(64))
    created: Mapped[datetime] = mapped_column(UtcDateTime())
    name: Mapped[str] = mapped_column(String(LONGEST_ACCOUNT), server_default="")
    expires: Mapped[datetime | None] = mapped_column(UtcDateTime())
    used: Mapped[datetime | None] = mapped_column(UtcDateTime())


class GpuTimeRow(Base):
    """The time that runs of a client have taken on GPUs on one day (UTC, as in "2026-11-23")."""

    __tablename__ = "gpu_time"

    client: Mapped[str] = mapped_column(String(64), primary_key=True)
    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    seconds: Mapped[float] = mapped_column(Double())


class LeaseRow(Base):
    """The process `owner` does the job of the record with this `id`, until `expires` at the latest.

    `expires` is in seconds since 1970 by the clock of the database. `leaving` has the followers that have
    canceled the job on web servers, one in each line.
    """

    __tablename__ = "lease"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    owner: Mapped[str] = mapped_column(String(32))
    expires: Mapped[float] = mapped_column(Double())
    leaving: Mapped[str] = mapped_column(Text())


class EntryRow(Base):
    """Consecutive entries of an unfinished job.

    `number` is the 1-based number of the last entry. `content` is a JSON list without its brackets.
    """

    __tablename__ = "entry"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    content: Mapped[bytes] = mapped_column(LargeBinary())


class FollowerRow(Base):
    """A follower of the job of the record with this `id`, which another process does.

    `server` sends an event stream to the follower; "" if the follower has submitted the job. The row is valid
    until `expires`, in seconds since 1970 by the clock of the database.
    """

    __tablename__ = "follower"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    follower: Mapped[str] = mapped_column(String(LONGEST_FOLLOWER), primary_key=True)
    server: Mapped[str] = mapped_column(String(32), primary_key=True)
    expires: Mapped[float] = mapped_column(Double())


class JobRow(Base):
    """A job that workers do, from its submission until its result is stored.

    The job runs while a living worker holds the lease with the same `id`, and waits otherwise. `submitted` is
    in seconds since 1970 by the clock of the database. `urgency` is a number: the least starts first.
    `request_id` and `traceparent` identify the request that has submitted the job.
    """

    __tablename__ = "job"

    id: Mapped[str] = mapped_column(String(LONGEST_ID), primary_key=True)
    queue: Mapped[str] = mapped_column(String(128), index=True)
    client: Mapped[str] = mapped_column(String(64))
    urgency: Mapped[int] = mapped_column()
    submitted: Mapped[float] = mapped_column(Double())
    request_id: Mapped[str] = mapped_column(String(64))
    traceparent: Mapped[str] = mapped_column(String(64))


class TurnRow(Base):
    """When a worker last took a job of a client, in seconds since 1970 by the clock of the database."""

    __tablename__ = "turn"

    client: Mapped[str] = mapped_column(String(64), primary_key=True)
    taken: Mapped[float] = mapped_column(Double())


class ProcessRow(Base):
    """A web server or a worker that uses the database with others.

    `location` is where it stores texts, `document` is JSON, and `seen` is when the process was last known to
    be alive, in seconds since 1970 by the clock of the database.
    """

    __tablename__ = "process"

    name: Mapped[str] = mapped_column(String(128), primary_key=True)
    is_worker: Mapped[bool] = mapped_column()
    location: Mapped[str] = mapped_column(String(512))
    document: Mapped[bytes] = mapped_column(LargeBinary())
    seen: Mapped[float] = mapped_column(Double())
