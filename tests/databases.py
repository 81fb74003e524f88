"""The databases that the store is tested with: SQLite, and a PostgreSQL that the tests start."""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from explorer.sandbox import linux

_START_SECONDS = 60
#: PostgreSQL refuses to run as root. Debian's package has made this user.
_USER = "postgres"


def _end_with_parent() -> None:
    """Stop PostgreSQL at once when the test process has ended, even if that was killed."""
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGQUIT)


class PostgreSql:
    """Debian's PostgreSQL, with its data and its socket in a temporary folder."""

    def __init__(self, programs: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="triton-explorer-postgresql-"))
        self._account: dict[str, Any] = {}
        if os.getuid() == 0:
            user = pwd.getpwnam(_USER)
            self._account = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(self._folder, user.pw_uid, user.pw_gid)
        self._numbers = itertools.count()
        data = self._folder / "data"
        options = ["--no-sync", "--auth=trust", "--encoding=UTF8", "--username=postgres"]
        subprocess.run(
            [programs / "initdb", *options, data],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/",
            **self._account,
        )
        settings = ["-c", "listen_addresses=", "-c", "fsync=off"]
        with (self._folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                [programs / "postgres", "-D", data, "-k", self._folder, *settings],
                stderr=log,
                stdout=subprocess.DEVNULL,
                cwd="/",
                preexec_fn=_end_with_parent,
                **self._account,
            )
        self._administrator = self._connect()

    def new_database(self) -> str:
        """Create an empty database, and return its URL."""
        name = f"test_{next(self._numbers)}"
        self._administrator.execute(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://postgres@/{name}?host={self._folder}"

    def close(self) -> None:
        """Stop the server with all connections, and remove its data."""
        self._administrator.close()
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(_START_SECONDS)
        shutil.rmtree(self._folder)

    def _connect(self) -> psycopg.Connection[tuple[object, ...]]:
        deadline = time.monotonic() + _START_SECONDS
        while True:
            with contextlib.suppress(psycopg.OperationalError):
                return psycopg.connect(host=str(self._folder), user="postgres", autocommit=True)
            log = (self._folder / "log").read_text()
            assert self._process.poll() is None, f"PostgreSQL did not start:\n{log}"
            assert time.monotonic() < deadline, f"PostgreSQL did not answer:\n{log}"
            time.sleep(0.05)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSql]:
    """A PostgreSQL server for the tests of this process."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        reason = "PostgreSQL is not installed: tools/install-debian-packages postgresql"
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    server = PostgreSql(found[-1].parent)
    yield server
    server.close()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database without tables: the file of a data folder, or a database of PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'explorer.sqlite'}"
    server: PostgreSql = request.getfixturevalue("postgresql")
    return server.new_database()
