"""The process that has executed a script, which stays for later jobs of the same script.

After the script, the process forks a copy of itself, which waits. The process goes on with the job. The copy
gets the request of the next job and does the same: it forks the copy for the job after the next, and goes on
with its job. So a script is executed once, however many of its launches are compiled.

The sandbox decides whether a job may leave a copy, and when the copy ends. Without a sandbox there are no
copies.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

from explorer.model import Request
from explorer.pipeline import time_limit

#: A shorter script is executed again: a copy costs the job some milliseconds, and memory.
_SHORTEST_SCRIPT_SECONDS = 0.1

#: What the script has written to its standard error is in the log of later jobs, too.
_MOST_ERROR_BYTES = 1 << 16

_link: socket.socket | None = None
_receive: Callable[[socket.socket], Request] | None = None


def use(link: socket.socket, receive: Callable[[socket.socket], Request]) -> None:
    """Leave copies, and tell the sandbox their numbers over `link`.

    `receive` is called in a copy: it waits for the next job, makes its streams the streams of this process,
    and returns its request.
    """
    global _link, _receive
    _link, _receive = link, receive


def request_after_script(request: Request) -> Request:
    """Return the request to go on with, after the script of a request has been executed.

    This is `request` itself, and in a copy the request of a later job.
    """
    if _link is None or _receive is None or time_limit.elapsed_seconds() < _SHORTEST_SCRIPT_SECONDS:
        return request
    errors = b""
    with contextlib.suppress(OSError):  # The script has closed it.
        errors = os.pread(2, _MOST_ERROR_BYTES, 0)
    while True:
        # A lock that another thread holds would never be released in the copy.
        if len(list(Path("/proc/self/task").iterdir())) != 1:
            return request
        if copy := os.fork():
            with contextlib.suppress(OSError):
                _link.send(b"%d" % copy)
            return request
        request = _receive(_link)
        with contextlib.suppress(OSError):
            os.write(2, errors)
