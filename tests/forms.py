"""The two forms of the service: embedded, and distributed for tests marked `both_forms`.

In the distributed form, each server and each application of the tests has a database of PostgreSQL, a virtual
host of RabbitMQ, a folder of an S3 server, and a worker process, which does its jobs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from explorer.store import Store, open_store

if TYPE_CHECKING:
    from brokers import RabbitMq
    from databases import PostgreSql
    from s3_server import S3Server

#: The bucket in which each server of the distributed form has a folder.
BUCKET = "servers"


class Distributed:
    """The shared parts of servers, applications and workers of the distributed form."""

    def __init__(self, postgresql: PostgreSql, rabbitmq: RabbitMq, s3: S3Server) -> None:
        self._postgresql = postgresql
        self._rabbitmq = rabbitmq
        self._s3 = s3
        os.environ.update(s3.credentials)
        self._urls: dict[Path, dict[str, str]] = {}

    def urls(self, folder: Path) -> dict[str, str]:
        """Return the settings of a server, and of its workers. It keeps them from one start to the next."""
        if folder not in self._urls:
            place = f"{BUCKET}/{len(self._urls)}"
            self._urls[folder] = {
                "database_url": self._postgresql.new_database(),
                "broker_url": self._rabbitmq.new_virtual_host(),
                "blobs_url": f"s3://{place}/texts?endpoint={self._s3.endpoint}&timeout_seconds=60",
            }
        return self._urls[folder]


_distributed: Distributed | None = None


def urls_of(folder: Path) -> dict[str, Any]:
    """Return the settings that make a server with a data folder one of the chosen form: {} if embedded."""
    return _distributed.urls(folder) if _distributed else {}


def open_store_of(folder: Path) -> Store:
    """Open the store of the server with a data folder, which need not run."""
    urls = urls_of(folder)
    return open_store(folder, urls.get("database_url", ""), blobs_url=urls.get("blobs_url", ""))


@pytest.fixture(scope="session", autouse=True)
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    """Select the form of the service: embedded, unless the test names another."""
    global _distributed
    name = getattr(request, "param", None) or "embedded"
    if name == "distributed":
        _distributed = Distributed(
            *map(request.getfixturevalue, ("postgresql", "rabbitmq", "s3_server_of_form"))
        )
    yield name
    _distributed = None
