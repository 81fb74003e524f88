"""The time limit of a job, enforced by the job's keeper (see `memory`). Jail side.

The time in which a job waits for a processor does not count: a busy machine ends no job. It does count when
the processes of a job have together used the limit in processor time, because many processes wait for each
other.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from explorer.sandbox.settings import Limits

_LOOK_SECONDS = 1.0
_NANOSECONDS = 1e9


class JobTime:
    """The time of one job, from now on."""

    def __init__(self, limits: Limits, processes: Callable[[], list[int]]) -> None:
        """Ask `processes` for the processes of the job, by their numbers in /proc."""
        self._limits = limits
        self._processes = processes
        self._began = time.monotonic()
        self._next_look = self._began + min(limits.working_seconds, _LOOK_SECONDS)
        #: The seconds on a processor, and the seconds of waiting for one, of each process that was seen.
        self._seen: dict[int, tuple[float, float]] = {}

    def exceeded(self) -> tuple[float, float] | None:
        """Return the elapsed and the waited seconds if the time of the job is over, otherwise None.

        The processes are looked at once in a second. The last time of a process that ends between two looks
        is not seen.
        """
        now = time.monotonic()
        if now < self._next_look:
            return None
        for process in self._processes():
            if times := _times(process):
                self._seen[process] = times
        elapsed, limit = now - self._began, self._limits.working_seconds
        used = sum(seconds for seconds, _ in self._seen.values())
        waited = min(sum(seconds for _, seconds in self._seen.values()), elapsed) if used < limit else 0.0
        remaining = min(limit + waited, self._limits.most_wall_seconds) - elapsed
        self._next_look = now + min(remaining, _LOOK_SECONDS)
        return (elapsed, waited) if remaining <= 0 else None


def _times(process: int) -> tuple[float, float] | None:
    """Return the seconds on a processor and of waiting for one, of the first thread of a process."""
    try:
        used, waited, _ = Path(f"/proc/{process}/schedstat").read_text().split()
    except (OSError, ValueError):  # It has ended, or the kernel does not count.
        return None
    return int(used) / _NANOSECONDS, int(waited) / _NANOSECONDS
