"""The time limits of a job, and of the script in it, in seconds without waiting for a processor."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

#: The time that remains for the job when its script is stopped.
_REST_SECONDS = 15.0
_MOST_SCRIPT_SECONDS = 120.0
_NANOSECONDS = 1e9

#: The sandbox stops the job after this time.
_job_seconds = 30.0
_script_seconds = 15.0
_began = 0.0
_began_at = 0.0


def set_job_seconds(seconds: float) -> None:
    """Set the limit of the job, as the sandbox enforces it. The script gets half of it at most."""
    global _job_seconds, _script_seconds
    _job_seconds = seconds
    _script_seconds = min(seconds / 2, _MOST_SCRIPT_SECONDS)


def begin_job() -> None:
    """Count the time of a job from now on."""
    global _began, _began_at
    _began, _began_at = own_seconds(), time.perf_counter()


def elapsed_seconds() -> float:
    """Return the time since the job began, with all waiting."""
    return time.perf_counter() - _began_at


def own_seconds() -> float:
    """Return a clock that stands while this process waits for a processor."""
    return time.monotonic() - waited_seconds("self")


def waited_seconds(process: int | str) -> float:
    """Return how long a process has waited for a processor; 0 if the kernel does not count it."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / _NANOSECONDS
    return 0.0


def remaining_seconds() -> float:
    """Return the time that remains for the job."""
    return _began + _job_seconds - own_seconds()


def extend_script() -> None:
    """Give the script almost all of the time of the job: only the script takes long."""
    global _script_seconds
    _script_seconds = max(_job_seconds / 2, _job_seconds - _REST_SECONDS)


def script_seconds() -> float:
    """Return the time after which a script is stopped whose launches are listed."""
    return _script_seconds
