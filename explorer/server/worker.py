"""The worker of the web server: gunicorn's worker for ASGI, with limits for clients."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
from typing import Any

from gunicorn.workers.gasgi import ASGIWorker

from explorer.server.connections import Connection, Connections
from explorer.services import services_of

#: The limit of open files is raised to this number, as far as the system allows.
_OPEN_FILES = 16_384
#: Open files that are not connections: the database, results, pipes of the sandbox.
_OTHER_FILES = 512
_CHECK_SECONDS = 1.0
#: How long a stopping server waits for responses; event streams do not end on their own.
_STOP_SECONDS = 1.0


class Worker(ASGIWorker):  # type: ignore[misc]  # gunicorn has no types
    """Serves the application in one event loop."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._signaled = asyncio.Event()

    async def _serve(self) -> None:
        """Serve until a signal arrives."""
        settings = services_of(self.asgi.flask).settings
        limit = max(_open_files() - _OTHER_FILES, _OTHER_FILES)
        connections = Connections(limit, settings.client_connections, settings.trusted_proxies)
        self.state["connections"] = connections
        self.servers = [
            await self.loop.create_server(lambda: Connection(self), sock=each.sock, backlog=self.cfg.backlog)
            for each in self.sockets
        ]
        while self.alive and self.ppid == os.getppid():
            self.notify()
            connections.check(self.loop.time())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._signaled.wait(), _CHECK_SECONDS)
        for server in self.servers:
            server.close()
        deadline = self.loop.time() + _STOP_SECONDS
        while not self._quick_shutdown and connections.are_at_work and self.loop.time() < deadline:
            await asyncio.sleep(_STOP_SECONDS / 20)  # once in the life of a server

    def handle_exit_signal(self) -> None:
        """Finish the running requests, then stop."""
        super().handle_exit_signal()
        self._signaled.set()

    def handle_quit_signal(self) -> None:
        super().handle_quit_signal()
        self._signaled.set()


def _open_files() -> int:
    """Raise the limit of open files and return it."""
    limit, greatest = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if greatest == resource.RLIM_INFINITY else min(_OPEN_FILES, greatest)
    if limit == resource.RLIM_INFINITY or limit >= wanted:
        return limit if limit > 0 else _OPEN_FILES
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, greatest))
    return wanted
