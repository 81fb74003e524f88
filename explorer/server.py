"""The web server: gunicorn in this process's stead, with one worker process that holds everything.

One process, because the jobs and their listeners meet in its memory; threads, because each open event
stream keeps one. The application is made in the worker, so that it alone owns the sandbox's processes.
"""

from __future__ import annotations

from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication

from explorer import create_app
from explorer.services import services_of
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
        return self._app

    def _announce(self, _arbiter: Any) -> None:
        print(f"triton-explorer serves on http://{self.cfg.bind[0]}", flush=True)

    def _close(self, _arbiter: Any, _worker: Any) -> None:
        if self._app is not None:
            services_of(self._app).close()
