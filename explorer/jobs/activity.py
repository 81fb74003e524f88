"""The outcomes of the jobs of a runner: when a kernel last went through, with which Triton version."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from explorer.model import Diagnostic, Done, Event, Request

#: The tasks that take a kernel through a slot.
_TASKS = ("compile", "run")


class Activity:
    """Times by the monotonic clock, by Triton version. Safe to use from many threads."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._begun: dict[object, str] = {}
        self._successes: dict[str, float] = {}
        self._problems: dict[str, str] = {}
        self._jobs = 0

    @property
    def jobs(self) -> int:
        """How many jobs have ended."""
        return self._jobs

    def running(self, version: str) -> int:
        """Return how many jobs of a version run."""
        with self._changing:
            return list(self._begun.values()).count(version)

    def last_success(self, version: str) -> float | None:
        """Return when a kernel was last compiled or run with a version; None: never."""
        return self._successes.get(version)

    def problem(self, version: str) -> str:
        """Return why the last compilation or run failed; "" if it has not failed."""
        return self._problems.get(version, "")

    def note_problem(self, version: str, problem: str) -> None:
        """Note that a kernel could not be compiled or run."""
        self._problems[version] = problem

    def watch(self, request: Request, events: Iterator[Event]) -> Iterator[Event]:
        """Yield the events of a job, and note how it ends."""
        token, version, problem = object(), request.triton, ""
        with self._changing:
            self._begun[token] = version
        try:
            for event in events:
                if isinstance(event, Diagnostic) and event.severity == "error":
                    problem = event.message
                elif isinstance(event, Done) and request.task in _TASKS:
                    if event.status == "complete":
                        self._successes[version] = time.monotonic()
                        problem = ""
                    self._problems[version] = problem
                yield event
        finally:
            with self._changing:
                del self._begun[token]
                self._jobs += 1
