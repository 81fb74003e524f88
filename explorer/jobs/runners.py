"""Where jobs are done, one at a time each: a sandbox, a GPU with a sandbox of its own, or nowhere.

A queue gives every runner a thread. `LANES` are the queue's lines: what waits for one kind of device does
not wait for another.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol

from explorer.model import Diagnostic, Done, Event, Request
from explorer.sandbox import Sandbox

Lane = Literal["compile", "interpreter", "gpu"]
LANES: tuple[Lane, ...] = ("compile", "interpreter", "gpu")


class Runner(Protocol):
    """Does one job after another."""

    @property
    def problem(self) -> str | None:
        """Why no job can be done here just now; None: one can."""
        ...

    def run(self, request: Request, cancelled: threading.Event) -> Iterator[Event]:
        """Yield the events of a job, the last of them Done."""
        ...

    def settle(self) -> None:
        """Make ready for the next job, or find out why that is impossible."""
        ...

    def close(self) -> None:
        """Kill what runs."""
        ...


Runners = Mapping[Lane, Sequence[Runner]]


def lane_of(request: Request) -> Lane:
    """The line in which a request waits."""
    return request.run.device if request.task == "run" and request.run is not None else "compile"


class SandboxRunner:
    """Jobs on the processor. A sandbox that nobody has started is started by its first job."""

    def __init__(self, sandbox: Sandbox, *, starts_it: bool = False) -> None:
        self._sandbox = sandbox
        self._starts_it = starts_it
        self._starting = threading.Lock()
        self.problem: str | None = None

    def run(self, request: Request, cancelled: threading.Event) -> Iterator[Event]:
        """Yield the events of a job.

        Raises:
            Unavailable, UnknownTriton: it cannot be run here.
        """
        with self._starting:
            if self._starts_it and self._sandbox.tier == "none":
                self._sandbox.start()
        return self._sandbox.run(request, cancelled)

    def settle(self) -> None:
        """Nothing remains of a job: its processes are gone with its namespace."""

    def close(self) -> None:
        """Kill the jails."""
        self._sandbox.close()


class NoDevice:
    """Tells whoever asks for a device that is not here why it is not."""

    def __init__(self, reason: str) -> None:
        self.problem: str | None = reason

    def run(self, request: Request, cancelled: threading.Event) -> Iterator[Event]:  # noqa: ARG002
        """Refuse."""
        yield Diagnostic("error", "This cannot be run here.", hint=self.problem or "")
        yield Done("failed", 0, is_transient=True)

    def settle(self) -> None:
        """There is nothing to make ready."""

    def close(self) -> None:
        """There is nothing to kill."""
