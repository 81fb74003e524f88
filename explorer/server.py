"""The web server: gunicorn in this process's stead, with one worker process that holds everything.

One process, because the jobs and their listeners meet in its memory; threads, because each open event
stream keeps one. The application is made in the worker, so that it alone owns the sandbox's processes.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication

from explorer import create_app
from explorer.errors import ExplorerError, SettingsError
from explorer.examples import DEFAULT_EXAMPLE, find_example
from explorer.model import Request
from explorer.services import DEFAULT_TARGET, Services, services_of
from explorer.settings import Settings

_SECONDS_FOR_OPEN_STREAMS = 1
_BACKLOG = 512


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """Serves until it is told to stop by SIGTERM or SIGINT.

    Raises:
        SettingsError: nothing can listen on that address.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        bound = _bound_socket(settings.host, settings.port)
        host, port = bound.getsockname()[:2]
        self._address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._descriptor = bound.detach()  # gunicorn closes it
        self._app: Flask | None = None
        super().__init__()

    def load_config(self) -> None:
        """Say what gunicorn calls its settings."""
        options = {
            "bind": f"fd://{self._descriptor}",
            "workers": 1,
            "worker_class": "explorer.server_worker.Worker",
            "threads": self._settings.threads,
            "backlog": _BACKLOG,
            "graceful_timeout": _SECONDS_FOR_OPEN_STREAMS,
            "loglevel": "warning",
            "proc_name": "triton-explorer",
            "when_ready": self._announce,
            "worker_exit": self._close,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """Make the application, in the worker."""
        self._app = create_app(self._settings)
        _compile_first_example(services_of(self._app))
        return self._app

    def _announce(self, _arbiter: Any) -> None:
        print(f"triton-explorer serves on {self._address}", flush=True)

    def _close(self, _arbiter: Any, _worker: Any) -> None:
        if self._app is not None:
            services_of(self._app).close()


def _bound_socket(host: str, port: int) -> socket.socket:
    """Gunicorn would try a taken address for five seconds, and print each time that it failed."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except (OSError, OverflowError) as error:
        bound.close()
        reason = error.strerror if isinstance(error, OSError) else "ports go from 0 to 65,535"
        raise SettingsError(
            f"Nothing can listen on {host}, port {port}: {reason}. Name another by --port or --host."
        ) from error
    return bound


def _compile_first_example(services: Services) -> None:
    """Have ready what a first visit opens, by the same request that the page makes."""
    example = find_example(DEFAULT_EXAMPLE)
    assert example is not None
    with contextlib.suppress(ExplorerError):  # what stands against it, a visit will be told
        services.queue.submit(
            Request(source=example.source, target=DEFAULT_TARGET, triton=services.triton_version(None))
        )
