"""The web server: gunicorn in this process's stead, with one worker process that holds everything.

One process, because the jobs and their listeners meet in its memory; threads, because each open event
stream keeps one. The application is made in the worker, so that it alone owns the sandbox's processes.
"""

from __future__ import annotations

import contextlib
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication

from explorer import create_app
from explorer.errors import ExplorerError
from explorer.examples import DEFAULT_EXAMPLE, find_example
from explorer.model import Request
from explorer.services import DEFAULT_TARGET, Services, services_of
from explorer.settings import Settings

_SECONDS_FOR_OPEN_STREAMS = 1
_BACKLOG = 512


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """Serves until it is told to stop by SIGTERM or SIGINT."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._app: Flask | None = None
        super().__init__()

    def load_config(self) -> None:
        """Say what gunicorn calls its settings."""
        host = f"[{self._settings.host}]" if ":" in self._settings.host else self._settings.host
        options = {
            "bind": f"{host}:{self._settings.port}",
            "workers": 1,
            "worker_class": "gthread",
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
        print(f"triton-explorer serves on http://{self.cfg.bind[0]}", flush=True)

    def _close(self, _arbiter: Any, _worker: Any) -> None:
        if self._app is not None:
            services_of(self._app).close()


def _compile_first_example(services: Services) -> None:
    """Have ready what a first visit opens, by the same request that the page makes."""
    example = find_example(DEFAULT_EXAMPLE)
    assert example is not None
    with contextlib.suppress(ExplorerError):  # what stands against it, a visit will be told
        services.queue.submit(
            Request(source=example.source, target=DEFAULT_TARGET, triton=services.triton_version(None))
        )
