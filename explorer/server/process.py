"""The web server: gunicorn with one worker process.

There is one worker process, since jobs and their followers meet in its memory. Its event loop reads requests
and sends responses, and its threads compute the responses. The application is created in the worker, which
owns the processes of the sandbox.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger

from explorer import create_app
from explorer.errors import ExplorerError, SettingsError
from explorer.examples import DEFAULT_EXAMPLE, find_example
from explorer.model import Request
from explorer.model.hardware import DEFAULT_TARGET
from explorer.monitoring.log import configure_log
from explorer.monitoring.traces import configure_traces, end_traces
from explorer.sandbox import control_group, landlock
from explorer.sandbox.launcher import SOURCES, find_bubblewrap
from explorer.sandboxes import compilation_sandbox
from explorer.server.address import remove_address, write_address
from explorer.server.application import Application
from explorer.services import Services, services_of
from explorer.settings import Settings

#: The time for the worker to close its services. Afterwards the worker is killed.
_STOP_SECONDS = 15
#: The time for the next request of a connection, from the end of the last response to the last header.
_KEEP_ALIVE_SECONDS = 15
_BACKLOG = 512
_LOOPBACK = ["127.0.0.1", "::1"]
_OWN_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104  compared, not listened on


class ServerLog(Logger):  # type: ignore[misc]  # gunicorn has no types
    """Redirects the log of gunicorn to the log of this program."""

    def setup(self, cfg: Any) -> None:
        """Let the handlers of this program write gunicorn's messages."""
        super().setup(cfg)
        self.error_log.propagate = True


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """Serves until SIGTERM or SIGINT.

    Raises:
        SettingsError: the server cannot listen on the address.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        configure_log(settings.log_format, settings.least_log_level)
        bound = _bound_socket(settings.host, settings.port)
        host, port = bound.getsockname()[:2]
        self._address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        #: The address for programs on this machine; a server on all addresses has no single address.
        self._own_address = f"http://{_OWN_HOSTS.get(host, f'[{host}]' if ':' in host else host)}:{port}"
        self._descriptor = bound.detach()  # gunicorn closes the descriptor
        self._app: Flask | None = None
        super().__init__()

    def load_config(self) -> None:
        """Set the options of gunicorn."""
        options = {
            "bind": f"fd://{self._descriptor}",
            "workers": 1,
            "worker_class": "explorer.server.worker.Worker",
            "backlog": _BACKLOG,
            "keepalive": _KEEP_ALIVE_SECONDS,
            "asgi_loop": "asyncio",
            "http_parser": "python",  # `Connection` reads the length of a chunk from this parser
            "control_socket_disable": True,  # the socket would be in the home folder
            "asgi_disconnect_grace_period": 0,
            "forwarded_allow_ips": ",".join([*_LOOPBACK, *map(str, self._settings.trusted_proxies)]),
            "graceful_timeout": _STOP_SECONDS,
            "loglevel": "warning",
            "logger_class": ServerLog,
            "errorlog": None,  # `configure_log` writes the log
            "proc_name": "triton-explorer",
            "when_ready": self._announce,
            "worker_exit": self._close,
            "on_exit": self._forget,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Application:
        """Make the application. The worker process calls this method."""
        if self._settings.traces_url:
            configure_traces(self._settings.traces_url)
        self._app = create_app(self._settings)
        _compile_first_example(services_of(self._app))
        return Application(self._app)

    def _announce(self, _arbiter: Any) -> None:
        print(f"triton-explorer serves on {self._address}", flush=True)
        print(_sandbox_line(self._settings), flush=True)
        with contextlib.suppress(OSError):  # on a full disk, commands do not find the server
            write_address(self._settings.data_dir, self._own_address)

    def _forget(self, _arbiter: Any) -> None:
        remove_address(self._settings.data_dir)

    def _close(self, _arbiter: Any, _worker: Any) -> None:
        if self._app is not None:
            services_of(self._app).close()
        end_traces()


def _sandbox_line(settings: Settings) -> str:
    """Describe the sandbox. The worker process tests later whether it works."""
    if settings.broker_url:
        return "Sandbox: none; workers do the jobs (triton-explorer worker)."
    if settings.unsafe_no_sandbox:
        return "Sandbox: none; user code runs unconfined (--unsafe-no-sandbox)."
    found = find_bubblewrap(compilation_sandbox(settings))
    if found is None:
        return "Sandbox: none; bubblewrap (bwrap) is missing."
    abi = landlock.abi()
    walls = [
        f"bubblewrap {found.version} at {found.path} ({SOURCES[found.source]})",
        f"Landlock ABI {abi}" if abi else "no Landlock",
        "control groups" if control_group.are_available() else "no control groups",
    ]
    return f"Sandbox: {', '.join(walls)}."


def _bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to the address. gunicorn would retry a failed bind for five seconds.

    Raises:
        SettingsError: the server cannot listen on the address.
    """
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except (OSError, OverflowError) as error:
        bound.close()
        reason = error.strerror if isinstance(error, OSError) else "ports are 0 to 65,535"
        raise SettingsError(
            f"Cannot listen on {host}, port {port}: {reason}. Change --port or --host."
        ) from error
    return bound


def _compile_first_example(services: Services) -> None:
    """Submit the compilation that a first visit opens, with the page's request."""
    example = find_example(DEFAULT_EXAMPLE)
    assert example is not None
    profile = services.profile_of_example(example.name)
    is_profiled = profile is not None and profile.request.target == DEFAULT_TARGET
    with contextlib.suppress(ExplorerError):  # the first visit reports the error
        triton = profile.request.triton if is_profiled and profile else services.triton_version(None)
        services.queue.submit(Request(source=example.source, target=DEFAULT_TARGET, triton=triton))
