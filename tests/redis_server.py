"""Debian's Redis on a free port, without a file, for tests."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from served import end_with_parent

_START_SECONDS = 30


class RedisServer:
    """A Redis that keeps nothing. It can be stopped, and started again on the same port."""

    def __init__(self, program: str) -> None:
        self._program = program
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(
            [self._program, *options], stdout=subprocess.DEVNULL, preexec_fn=end_with_parent
        )
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            assert self._process.poll() is None, "Redis did not start"
            time.sleep(0.02)
        raise AssertionError("Redis did not answer")

    def stall(self) -> None:
        """Let it answer nothing, but keep its connections."""
        self._process.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    """A Redis for a test."""
    program = shutil.which("redis-server")
    if program is None:
        reason = "Redis is not installed: tools/install-debian-packages redis-server"
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    server = RedisServer(program)
    yield server
    server.stop()
