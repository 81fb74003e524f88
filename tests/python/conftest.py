"""A running server, which this process asks."""

from __future__ import annotations

import pytest


@pytest.fixture
def asks(server, monkeypatch):
    """Let this process ask the server."""
    monkeypatch.setenv("TRITON_EXPLORER_SERVER", server.url)
