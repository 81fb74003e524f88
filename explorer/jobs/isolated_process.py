"""Runs a function on input that users may have forged: in a process with limits on time and memory.

The process only computes. It exchanges messages with its parent over a pipe, and any error of the pipe ends
the process. The parent ends the process when no client waits for the result. The process is forked from a
server process without threads that has imported the preloaded modules. Forking takes a few milliseconds.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from typing import Any, Literal

from explorer import errors
from explorer.errors import ExplorerError, NotAnswerable, ResultTooLarge, Unavailable

POLL_SECONDS = 0.2
#: Returns whether a client still waits for the result.
Awaited = Callable[[], bool]
#: The end of a process: its last message, the name of an error, and the details.
Outcome = tuple[Literal["end", "refused", "failed"], str, str]
_log = logging.getLogger(__name__)
_starting = threading.Lock()


@dataclass(frozen=True)
class Limits:
    """The limits of one process, and of the document that it makes. The largest kernels need far less.

    `working_seconds` is the real time without the time in which the process waits for its parent. It is more
    than `processor_seconds`, since other processes work at the same time.
    """

    processor_seconds: int = 30
    working_seconds: float = 90.0
    memory_bytes: int = 3 << 30
    document_bytes: int = 64 << 20


class IsolatedProcesses:
    """Starts and ends processes. Safe to use from many threads. `too_much`: the message beyond the limits."""

    def __init__(self, limits: Limits, too_much: str) -> None:
        self._limits = limits
        self._too_much = too_much
        self._context = multiprocessing.get_context("forkserver")
        self._running: set[Any] = set()
        self._is_closed = False
        self._lock = threading.Lock()

    @property
    def running(self) -> frozenset[Any]:
        """The computing processes."""
        with self._lock:
            return frozenset(self._running)

    def preload(self, modules: Sequence[str]) -> None:
        """Let the server process import these modules when it starts."""
        self._context.set_forkserver_preload([__name__, *modules])

    def warm_up(self) -> None:
        """Start the server process from which the others are forked: its imports take a second."""
        ensure_running()

    def close(self) -> None:
        """End all processes. Threads that wait for a process get an `Unavailable`."""
        with self._lock:
            self._is_closed = True
            for process in self._running:
                process.kill()

    @contextmanager
    def conversation(
        self, function: Callable[..., None], arguments: tuple[Any, ...], is_awaited: Awaited
    ) -> Iterator[Conversation]:
        """Call `function(pipe, limits, *arguments)` in a process. End it with the block.

        Raises:
            ResultTooLarge: the process has exceeded its limits.
            Unavailable: the server is shutting down.
        """
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=function, args=(theirs, self._limits, *arguments), daemon=True)
        with ours:
            with theirs, self._lock:
                self._refuse_when_closed()
                with _main_module_left_out():
                    process.start()
                self._running.add(process)
            try:
                yield Conversation(ours, self._limits.working_seconds, is_awaited)
            except (EOFError, OSError) as error:
                self._refuse_when_closed()
                raise ResultTooLarge(self._too_much) from error
            finally:
                with self._lock:
                    self._running.discard(process)
                process.kill()
                process.join()
                process.close()

    def _refuse_when_closed(self) -> None:
        if self._is_closed:
            raise Unavailable("The server is shutting down. Try again in a moment.")


@contextmanager
def _main_module_left_out() -> Iterator[None]:
    """Keep a new process from executing the main module of this one, which may be the program of a user.

    Only a module with this name is not executed. Source: multiprocessing/spawn.py, Python 3.11.
    """
    with _starting:
        main_module = sys.modules["__main__"]
        present = main_module.__spec__
        main_module.__spec__ = ModuleSpec("explorer.__main__", None)
        try:
            yield
        finally:
            main_module.__spec__ = present


class Conversation:
    """The parent's end of the pipe to a process, with the remaining time of the process."""

    def __init__(self, pipe: Connection, seconds: float, is_awaited: Awaited) -> None:
        self._pipe = pipe
        self._left_seconds = seconds
        self._is_awaited = is_awaited

    def receive(self) -> bytes:
        """Wait for a message.

        Raises:
            Unavailable: the process has had too little processor time, or no client waits for the result.
        """
        start = time.monotonic()
        while not self._pipe.poll(POLL_SECONDS):
            if time.monotonic() - start > self._left_seconds:
                raise Unavailable("The server is too busy. Try again in a minute.")
            self.check()
        self._left_seconds -= time.monotonic() - start
        return self._pipe.recv_bytes()

    def check(self) -> None:
        """Raise `Unavailable` if no client waits for the result."""
        if not self._is_awaited():
            raise abandoned()

    def send(self, data: bytes) -> None:
        """Send a message."""
        self._pipe.send_bytes(data)

    def send_object(self, value: object) -> None:
        """Send an object of this program to the process, which trusts its parent."""
        self._pipe.send(value)


def abandoned() -> Unavailable:
    """Return the error for an answer whose client has closed the connection."""
    return Unavailable("Nobody waits for the answer.")


def error_of(kind: str, name: str, detail: str, what: str) -> ExplorerError:
    """Return the error for the outcome of a process. `what` names the failed work."""
    if kind == "refused":
        error: type[ExplorerError] = getattr(errors, name)
        return error(detail)
    _log.error("A process failed (%s):\n%s", what, detail)
    return ExplorerError(f"The {what} failed because of an error in the server; see its log.")


# --- in the process -----------------------------------------------------------------------------


def confine_process(limits: Limits) -> None:
    """Set the limits of this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C: the server ends this process
    gc.set_threshold(200_000, 20, 20)  # the process is short, and its objects live until the end
    resource.setrlimit(resource.RLIMIT_CPU, (limits.processor_seconds, limits.processor_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def outcome_of(function: Callable[[], None], too_much: str, too_deep: str) -> Outcome:
    """Call a function, and return its outcome."""
    try:
        function()
    except ExplorerError as error:
        return "refused", type(error).__name__, error.detail
    except MemoryError:
        return "refused", ResultTooLarge.__name__, too_much
    except RecursionError:
        return "refused", NotAnswerable.__name__, too_deep
    except Exception:  # A defect of this program: the parent logs it.
        return "failed", "", traceback.format_exc()
    return "end", "", ""
