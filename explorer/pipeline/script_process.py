"""The process that has executed a script, which stays for later jobs of the same script.

After the script, the process forks a copy of itself, which waits. The process goes on with the job. The copy
gets the request of the next job and does the same: it forks the copy for the job after the next, and goes on
with its job. So a script is executed once, however many of its launches are compiled.

The sandbox forks the copies, and decides when they end. Without a sandbox there are no copies.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from explorer.model import Request
from explorer.pipeline import time_limit

#: A shorter script is executed again: a copy costs the job some milliseconds, and memory.
_SHORTEST_SCRIPT_SECONDS = 0.1

_leave_copy: Callable[[bool], Request | None] | None = None


def use(leave_copy: Callable[[bool], Request | None]) -> None:
    """Leave copies with this function. In a copy it returns the request of a later job, otherwise None.

    Its argument says whether the later job may have another target of the vendor.
    """
    global _leave_copy
    _leave_copy = leave_copy


def request_after_script(request: Request, serves_vendor: Callable[[], bool]) -> Request:
    """Return the request to go on with, after the script of a request has been executed.

    This is `request` itself, and in a copy the request of a later job. `serves_vendor` is called before the
    first copy is left.
    """
    if (
        _leave_copy is None
        or request.script is None
        or time_limit.elapsed_seconds() < _SHORTEST_SCRIPT_SECONDS
        or _has_threads()
    ):
        return request
    serves = serves_vendor()
    while not _has_threads() and (later := _leave_copy(serves)) is not None:
        request = later
    return request


def _has_threads() -> bool:
    """Return whether there are other threads. A copy would never get a lock that one of them holds."""
    return len(list(Path("/proc/self/task").iterdir())) > 1
