"""A running server, which this process asks."""

import pytest


@pytest.fixture
def asks(server, monkeypatch):
    """Let this process ask the server."""
    monkeypatch.setenv("TRITON_EXPLORER_SERVER", server.url)
