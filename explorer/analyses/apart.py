"""An analysis in a process of its own: what a source has made up can cost that one its time and memory only.

The process computes, and nothing else. What it wants of the store and of the queue it asks for, as JSON over
a pipe; whatever goes wrong there ends it. It is forked of a server that has no threads and has imported the
analyses already, which takes a few milliseconds.
"""

from __future__ import annotations

import logging
import multiprocessing
import resource
import signal
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.forkserver import ensure_running
from typing import Any, Literal, NoReturn

import msgspec

from explorer import errors
from explorer.analyses.analysis import Analysis, Subject
from explorer.errors import ExplorerError, NotAnswerable, Unavailable
from explorer.model import Request
from explorer.store import Record

_TOO_MUCH = "It takes too much time or memory to be found out: the compilation is too large."
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Limits:
    """Of one process, and of what it finds. What the largest kernels need is far less."""

    processor_seconds: int = 30
    memory_bytes: int = 3 << 30
    document_bytes: int = 64 << 20


class _Message(msgspec.Struct):
    """What the process says. `found` is followed by the document, in bytes."""

    kind: Literal["read", "ask", "complete", "found", "refused", "failed"]
    text: str = ""
    detail: str = ""
    request: Request | None = None


_decode = msgspec.json.Decoder(_Message).decode


class Finders:
    """Starts such processes, and ends them. Safe to use from many threads."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._context = multiprocessing.get_context("forkserver")
        # With the program's own module imported there, no process has to import it again.
        self._context.set_forkserver_preload(["__main__", __name__, "explorer.analyses"])
        self._running: set[Any] = set()
        self._is_closed = False
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        """Start the server that they are forked of: it takes a second to import what they need."""
        ensure_running()

    def close(self) -> None:
        """End all that runs; who waits for it is told so."""
        with self._lock:
            self._is_closed = True
            for process in self._running:
                process.kill()

    def find(self, analysis: Analysis, subject: Subject) -> bytes:
        """Find it out; return the document as JSON.

        Raises:
            ExplorerError: what the analysis raises, or the store or the queue that it needs.
            NotAnswerable: it takes too much time or memory.
        """
        ours, theirs = self._context.Pipe()
        plain = replace(subject.record, read=_read_nothing)
        process = self._context.Process(
            target=_work,
            args=(theirs, self._limits, analysis.name, plain, dict(subject.parameters)),
            daemon=True,
        )
        with ours:
            with theirs, self._lock:
                self._refuse_when_closed()
                process.start()
                self._running.add(process)
            try:
                return _serve(ours, subject)
            except (EOFError, OSError) as error:
                self._refuse_when_closed()
                raise NotAnswerable(_TOO_MUCH) from error
            finally:
                with self._lock:
                    self._running.discard(process)
                process.kill()
                process.join()
                process.close()

    def _refuse_when_closed(self) -> None:
        if self._is_closed:
            raise Unavailable("The server is shutting down. Try again in a moment.")


def _serve(pipe: Connection, subject: Subject) -> bytes:
    """Give a process what it asks for, until it has found something out."""
    while True:
        message = _decode(pipe.recv_bytes())
        match message.kind:
            case "read":
                pipe.send_bytes(subject.record.read(message.text))
            case "ask" | "complete":
                assert message.request is not None
                queue = subject.queue
                record = (queue.ask if message.kind == "ask" else queue.complete)(message.request)
                pipe.send(replace(record, read=_read_nothing))
            case "found":
                return pipe.recv_bytes()
            case "refused":
                raise _error(message.text, message.detail)
            case "failed":
                _log.error("An analysis has failed:\n%s", message.detail)
                raise ExplorerError("This is a mistake of the server, and it is in its log. Try again.")


def _error(name: str, detail: str) -> ExplorerError:
    kind: type[ExplorerError] = getattr(errors, name)
    return kind(detail)


def _read_nothing(_address: str) -> NoReturn:
    raise AssertionError("this record has no texts")


# --- in the process -----------------------------------------------------------------------------


class _Parent:
    """The store and the queue, at the other end of the pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def read(self, address: str) -> bytes:
        self._say(_Message("read", address))
        return self._pipe.recv_bytes()

    def ask(self, request: Request) -> Record:
        return self._record_of(_Message("ask", request=request))

    def complete(self, request: Request) -> Record:
        return self._record_of(_Message("complete", request=request))

    def _record_of(self, message: _Message) -> Record:
        self._say(message)
        record: Record = self._pipe.recv()
        return replace(record, read=self.read)

    def _say(self, message: _Message) -> None:
        self._pipe.send_bytes(msgspec.json.encode(message))


def _work(pipe: Connection, limits: Limits, name: str, record: Record, parameters: Mapping[str, str]) -> None:
    from explorer.analyses import ANALYSES

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the server ends this process
    resource.setrlimit(resource.RLIMIT_CPU, (limits.processor_seconds, limits.processor_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    analysis = next(each for each in ANALYSES if each.name == name)
    parent = _Parent(pipe)
    document = b""
    try:
        found = analysis.find(Subject(replace(record, read=parent.read), parameters, parent))
        document = msgspec.json.encode(found)
        del found
        outcome = _Message("found")
        if len(document) > limits.document_bytes:
            raise NotAnswerable(f"The answer has more than {limits.document_bytes:,} bytes.")
    except ExplorerError as error:
        outcome = _Message("refused", type(error).__name__, error.detail)
    except MemoryError:
        outcome = _Message("refused", NotAnswerable.__name__, _TOO_MUCH)
    except RecursionError:
        outcome = _Message("refused", NotAnswerable.__name__, "Its texts are nested too deeply.")
    except Exception:
        outcome = _Message("failed", detail=traceback.format_exc())
    pipe.send_bytes(msgspec.json.encode(outcome))
    if outcome.kind == "found":
        pipe.send_bytes(document)
