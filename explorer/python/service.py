"""The service for requests of this process: a running server, or an application in the process itself."""

from __future__ import annotations

import argparse
import atexit
import os
import threading
from contextlib import ExitStack

from explorer.cli.api import Api, find_server, sender_to, server_sender

_OPTIONS = argparse.Namespace(unsafe_no_sandbox=False)
_starting = threading.Lock()
#: The application of a process, by the process's number: a forked process needs its own.
_own: dict[int, Api] = {}


def find_api(server: str | None = None) -> Api:
    """Find a server as the command line does, or start an application, once per process.

    `server` is the address of a server, or "none". The application ends with the process.

    Raises:
        InvalidRequest: `server` is not the address of a server.
    """
    url = find_server(server, _OPTIONS)
    if url:
        return Api(server_sender(url), url)
    with _starting:
        if os.getpid() not in _own:
            _own[os.getpid()] = _start()
        return _own[os.getpid()]


def _start() -> Api:
    process, stack = os.getpid(), ExitStack()
    _, send = stack.enter_context(sender_to("none", _OPTIONS))

    def close() -> None:
        if os.getpid() == process:
            stack.close()

    atexit.register(close)
    return Api(send)
