"""The lock of a database: one server does the jobs, or processes with a broker share them."""

from __future__ import annotations

import fcntl
import logging
import os
import time
from contextlib import ExitStack, suppress

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from explorer.errors import StoreError
from explorer.store.database import Database

#: How long to wait for a server that was stopped or killed a moment ago.
_WAIT_SECONDS = 5.0
_RETRY_SECONDS = 0.1
#: The advisory lock of PostgreSQL.
_SERVER_LOCK = 0x7365_7276_6572
#: PostgreSQL notices within half a minute that the machine of the lock is gone, instead of two hours.
_KEEPALIVES = {"tcp_keepalives_idle": "15", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}
_log = logging.getLogger(__name__)


class ServerLock:
    """The lock ends when it is closed, when the process ends, or when PostgreSQL closes the connection."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._held = ExitStack()
        #: The connection that has the lock of PostgreSQL, or has had it, and whether the lock is shared.
        self._last: tuple[Connection, bool] | None = None
        self._is_lost = False

    def take(self, *, is_shared: bool) -> None:
        """Take the lock. Processes of a cluster share it.

        Raises:
            StoreError: another process has the lock; the message says what to do.
        """
        deadline = time.monotonic() + _WAIT_SECONDS
        while not self._try(is_shared=is_shared):
            if time.monotonic() > deadline:
                raise StoreError(self._refusal(is_shared=is_shared))
            time.sleep(_RETRY_SECONDS)

    def renew(self) -> None:
        """Take the lock again if its connection has ended, for example because PostgreSQL was restarted."""
        if self._last is None:
            return
        connection, is_shared = self._last
        try:
            connection.scalar(select(1))
        except SQLAlchemyError:
            self.close()
            try:
                reason = "" if self._try(is_shared=is_shared) else self._refusal(is_shared=is_shared)
            except StoreError as error:
                reason = error.detail
            if reason and not self._is_lost:
                _log.error("The lock of the database is lost. %s", reason)
            self._is_lost = bool(reason)

    def close(self) -> None:
        """Release the lock."""
        with suppress(StoreError):  # the connection has ended
            self._held.close()

    def _refusal(self, *, is_shared: bool) -> str:
        database = repr(self._database.url)
        if is_shared:
            return (
                f"A server without TRITON_EXPLORER_BROKER_URL does the jobs of the database {database}. "
                "Stop it, or give it the same TRITON_EXPLORER_BROKER_URL."
            )
        return (
            f"Another server does the jobs of the database {database}. Stop it, or set "
            "TRITON_EXPLORER_DATA_DIR or TRITON_EXPLORER_DATABASE_URL to another folder or database. "
            "Several servers need TRITON_EXPLORER_BROKER_URL and workers."
        )

    def _try(self, *, is_shared: bool) -> bool:
        return self._try_postgresql(is_shared) if self._database.is_postgresql else self._try_sqlite()

    def _try_postgresql(self, is_shared: bool) -> bool:
        lock = func.pg_try_advisory_lock_shared if is_shared else func.pg_try_advisory_lock
        with ExitStack() as opened:
            connection = opened.enter_context(self._database.connection())
            connection.detach()  # the lock belongs to the connection
            keepalives = [func.set_config(name, value, False) for name, value in _KEEPALIVES.items()]
            if not connection.scalar(select(lock(_SERVER_LOCK), *keepalives)):
                return False
            self._held, self._last = opened.pop_all(), (connection, is_shared)
        return True

    def _try_sqlite(self) -> bool:
        with suppress(OSError):  # a read-only disk has no file to lock, and stores no results
            descriptor = os.open(f"{self._database.url.database}-server", os.O_RDONLY | os.O_CREAT, 0o644)
            self._held.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._held.close()
                return False
        return True
