"""A running server, which this process asks."""

from __future__ import annotations

import pytest
from served import Server


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A running server."""
    server = Server(tmp_path_factory.mktemp("data"))
    yield server
    server.close()


@pytest.fixture
def asks(server, monkeypatch):
    """Let this process ask the server."""
    monkeypatch.setenv("TRITON_EXPLORER_SERVER", server.url)
