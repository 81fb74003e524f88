"""The clock of the database: servers may have other clocks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Double, String
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from explorer.store.tables import UtcDateTime


class Now(FunctionElement[float]):
    """The time of the database, in seconds since 1970."""

    type = Double()
    inherit_cache = True


@compiles(Now, "sqlite")
def _now_in_sqlite(_element: Any, _compiler: Any, **_options: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(Now, "postgresql")
def _now_in_postgresql(_element: Any, _compiler: Any, **_options: Any) -> str:
    return "extract(epoch FROM clock_timestamp())"


class NowUtc(FunctionElement[datetime]):
    """The time of the database, as a date and time in UTC."""

    type = UtcDateTime()
    inherit_cache = True


@compiles(NowUtc, "sqlite")
def _now_utc_in_sqlite(_element: Any, _compiler: Any, **_options: Any) -> str:
    return "strftime('%Y-%m-%d %H:%M:%f000', 'now')"  # as SQLAlchemy stores it, with microseconds


@compiles(NowUtc, "postgresql")
def _now_utc_in_postgresql(_element: Any, _compiler: Any, **_options: Any) -> str:
    return "clock_timestamp()"


class Today(FunctionElement[str]):
    """The day of the database in UTC, as in "2026-11-23"."""

    type = String()
    inherit_cache = True


@compiles(Today, "sqlite")
def _today_in_sqlite(_element: Any, _compiler: Any, **_options: Any) -> str:
    return "date('now')"


@compiles(Today, "postgresql")
def _today_in_postgresql(_element: Any, _compiler: Any, **_options: Any) -> str:
    return "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
