"""The clock of the database, because the clocks of servers may differ."""

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


class NowUtc(FunctionElement[datetime]):
    """The time of the database, as a date and time in UTC."""

    type = UtcDateTime()
    inherit_cache = True


class Today(FunctionElement[str]):
    """The day of the database in UTC, as in "2026-11-23"."""

    type = String()
    inherit_cache = True


def _write(element: type[FunctionElement[Any]], database: str, text: str) -> None:
    """Compile a function to an SQL expression for a kind of database."""

    def write(_element: Any, _compiler: Any, **_options: Any) -> str:
        return text

    compiles(element, database)(write)


_write(Now, "sqlite", "((julianday('now') - 2440587.5) * 86400.0)")
_write(Now, "postgresql", "extract(epoch FROM clock_timestamp())")
# In the format of SQLAlchemy, with microseconds.
_write(NowUtc, "sqlite", "strftime('%Y-%m-%d %H:%M:%f000', 'now')")
_write(NowUtc, "postgresql", "clock_timestamp()")
_write(Today, "sqlite", "date('now')")
_write(Today, "postgresql", "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD')")
