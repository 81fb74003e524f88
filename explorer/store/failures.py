"""Translates failures of the disk or the database for a client: the reason, and what to do."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from explorer.errors import StoreError, StoreFull, StoreLocked

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_LOCKED_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_PRIMARY_CODE = 0xFF  # the other bits of a result code of SQLite are details
_POSTGRESQL_DISK_FULL = "53100"
#: A lock that another transaction holds for too long, and a deadlock of transactions.
_POSTGRESQL_LOCKED = {"55P03", "40P01"}


def disk_failure(what: str, error: OSError) -> StoreError:
    """Return the error of a failed access to the data folder. `what` begins the message, as in "Cannot …"."""
    if error.errno in _FULL:
        return StoreFull(f"{what}: {error.strerror}. Free space on the disk of the data folder.")
    return StoreError(f"{what}: {error.strerror}. Check the data folder of the server.")


@contextmanager
def database_failures() -> Iterator[None]:
    """Raise failures of the database as `StoreError`. Violated constraints are not failures.

    Raises:
        StoreFull: the disk of the database is full.
        StoreLocked: another process has locked the database.
        StoreError: the database cannot be used for another reason.
    """
    try:
        yield
    except IntegrityError:
        raise
    except SQLAlchemyError as error:
        raise failure_of(error) from error


def failure_of(error: SQLAlchemyError) -> StoreError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    code, state = getattr(cause, "sqlite_errorcode", 0) & _PRIMARY_CODE, getattr(cause, "sqlstate", "")
    if code in _LOCKED_CODES or state in _POSTGRESQL_LOCKED:
        return StoreLocked("Another process has locked the database. Try again when it is done.")
    if code == sqlite3.SQLITE_FULL or state == _POSTGRESQL_DISK_FULL:
        return StoreFull("The disk of the database is full. Free space on it.")
    place = "the data folder" if code else "the database"
    return StoreError(f"The database cannot be used: {cause}. Check {place} of the server.")
