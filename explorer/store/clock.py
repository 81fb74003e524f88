"""The clock of the database: servers may have other clocks."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Double
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


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
