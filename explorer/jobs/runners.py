"""Runners, which do one job at a time: in a sandbox, or on a GPU with its own sandbox.

The jobs for each kind of runner wait in a separate queue: a job for one kind of device does not wait for jobs
of another kind.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol

from explorer.jobs.activity import Activity
from explorer.model import Diagnostic, Done, Event, Progress, Request
from explorer.sandbox import Sandbox

#: The tasks that list the kernels of a script.
_LOADING_TASKS = ("compile", "inspect")
#: `torch.compile` by any of its names, the method of modules, and Helion.
_COMPILES = re.compile(r"\bcompile\b|\bhelion\b")
_IMPORTS_TRITON = re.compile(r"^[ \t]*(?:import|from)[ \t]+triton\b", re.MULTILINE)

RunnerKind = Literal["compile", "torch_compile", "interpreter", "gpu"]


class Runner(Protocol):
    """Does one job after another."""

    @property
    def problem(self) -> str | None:
        """Why no job can be done at the moment, or None."""

    def run(self, request: Request, cancelled: threading.Event) -> Iterator[Event]:
        """Yield the events of a job, the last of them Done."""

    def settle(self, closed: threading.Event) -> None:
        """Prepare for the next job, or set `problem`. Return soon after `closed` is set."""

    def close(self) -> None:
        """Kill the running job."""


Runners = Mapping[RunnerKind, Sequence[Runner]]


def problem_of(runners: Sequence[Runner]) -> str | None:
    """Return why none of some runners can do a job at the moment, or None."""
    problems = [runner.problem for runner in runners]
    return problems[0] if all(problem is not None for problem in problems) else None


def runner_kind(request: Request) -> RunnerKind:
    if request.task == "run" and request.run is not None:
        return request.run.device
    return "torch_compile" if request.task in _LOADING_TASKS and _is_torch_program(request) else "compile"


def _is_torch_program(request: Request) -> bool:
    """Return whether a request is a program that uses PyTorch's compiler and contains no kernel."""
    texts = (request.source, *request.files.values())
    mentions_compile = any(map(_COMPILES.search, texts)) and any("torch" in text for text in texts)
    return mentions_compile and not any(map(_IMPORTS_TRITON.search, texts))


class SandboxRunner:
    """Runs jobs in a sandbox. With `starts_it`, the first job starts the sandbox."""

    def __init__(self, sandbox: Sandbox, *, starts_it: bool = False) -> None:
        self.sandbox = sandbox
        self.activity = Activity()
        self._starts_it = starts_it
        self._starting = threading.Lock()
        self.problem: str | None = None

    def run(self, request: Request, cancelled: threading.Event) -> Iterator[Event]:
        """Yield the events of a job.

        Raises:
            Unavailable, UnknownTriton: the job cannot be run on this machine.
        """
        if self._starts_it:
            self.start(request.triton)
        return self.activity.watch(request, self.sandbox.run(request, cancelled))

    def start(self, version: str) -> None:
        """Start the sandbox, with a slot of a Triton version, unless it is started.

        Raises:
            Unavailable: no jail can be started on this machine.
        """
        with self._starting:
            if self.sandbox.tier == "none":
                self.sandbox.begin(version)
                self.sandbox.start()

    def settle(self, closed: threading.Event) -> None:
        """Do nothing: the processes of a job end with its namespace."""

    def close(self) -> None:
        """Kill the jails."""
        self.sandbox.close()


class TorchCompileRunner(SandboxRunner):
    """Runs programs with `torch.compile` in a sandbox, which the first job starts and reports."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox, starts_it=True)

    def run(self, request: Request, cancelled: threading.Event) -> Iterator[Event]:
        """Yield the events of a job. The first event describes the work before PyTorch's compiler reports.

        Raises:
            Unavailable, UnknownTriton: the job cannot be run on this machine.
        """
        is_started = self.sandbox.tier != "none"
        text = "executing the program" if is_started else "starting the sandbox of torch.compile"
        yield Progress(0, 0, text)
        yield from super().run(request, cancelled)


class NoDevice:
    """Refuses every job for a device that is not available, with the reason."""

    def __init__(self, reason: str) -> None:
        self.problem: str | None = reason

    def run(self, request: Request, cancelled: threading.Event) -> Iterator[Event]:  # noqa: ARG002  all are refused
        """Yield a diagnostic with the reason."""
        yield Diagnostic("error", "The kernel cannot be run on this device.", hint=self.problem or "")
        yield Done("failed", 0, is_transient=True)

    def settle(self, closed: threading.Event) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
