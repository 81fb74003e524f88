"""The entry point of a traced jail for compilations, whose functions report their times.

The processes of a job write their spans to memory that they share with the zygote. The next job sends them
out as a log, because some of them end after the last event of their own job.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.trace.spans import wrap
from explorer.model import Log, Request
from explorer.pipeline import job, passes
from explorer.pipeline.error_events import Emit
from explorer.sandbox import job_process

LOG = "trace"
#: How many spans of one job are kept for each process, and how many bytes they have at most.
_PROCESS_BYTES = 1 << 16
_PROCESSES = ("zygote", "keeper", "warden", "worker", "copy")

#: The functions that are timed in the zygote, and in the keeper and the warden that it forks.
_GUARDS = [
    "__main__:_serve",
    "__main__:_kill_orphans",
    "explorer.sandbox.confine:enter_namespaces",
    "explorer.sandbox.confine:mount_private_folder",
    "explorer.sandbox.confine:mount_proc",
    "explorer.sandbox.confine:limit_resources",
    "explorer.sandbox.confine:give_up_privileges",
    "explorer.sandbox.memory:JobMemory",
    "explorer.sandbox.memory:JobMemory.used_bytes",
    "explorer.sandbox.warden:Warden._watch",
    "explorer.sandbox.warden:Warden._report_verdict",
    "os:fork",
    "os:waitpid",
]
_WORKER = [
    "explorer.pipeline.job:_perform",
    "explorer.pipeline.module:load",
    "explorer.pipeline.specialize:resolve",
    "explorer.pipeline.compile:Compilation.run",
    "explorer.pipeline.compile:Compilation._lower",
    "explorer.pipeline.compile:Compilation._read",
    "explorer.pipeline.compile:Compilation._make",
    "explorer.pipeline.compile:Compilation._resources",
    "explorer.pipeline.lowering:Lowering",
    "explorer.pipeline.lowering:Lowering.make_module",
    "explorer.pipeline.passes:PassRecorder.finish",
    "explorer.pipeline.passes:run_pass",
    "explorer.pipeline.passes:without_locations",
    "explorer.pipeline.forked_copy:ForkedCopy",
    "explorer.sandbox.job_process:_read_all",
    "explorer.sandbox.job_process:_write_all",
    "explorer.sandbox.job_process:encode_event",
    "explorer.sandbox.job_process:decode_request",
    "subprocess:Popen",
    "subprocess:Popen.communicate",
    "subprocess:Popen.wait",
]


class _Spans:
    """The spans of the present job and of the one before it, by the process of the job."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 2 * _PROCESS_BYTES * len(_PROCESSES))
        self._zygote = 0
        self._region = 0
        self._used = 0
        self._lock = threading.Lock()

    def become(self, process: str) -> None:
        """Note which process of the job this is now."""
        jobs = self._region // len(_PROCESSES)
        self._region, self._used = jobs * len(_PROCESSES) + _PROCESSES.index(process), 0
        self.mark("begin")

    def begin_job(self) -> None:
        """Forget the job before the last one. Its place becomes that of the next job."""
        if self._zygote != os.getpid():  # Each zygote of a slot has jobs of its own.
            self._memory, self._zygote = mmap.mmap(-1, len(self._memory)), os.getpid()
        is_second = self._region < len(_PROCESSES)
        self._region, self._used = len(_PROCESSES) * is_second, 0
        start, end = self._bounds(is_second)
        self._memory[start:end] = bytes(end - start)

    def mark(self, name: str) -> None:
        """Keep a moment."""
        now = time.monotonic_ns()
        self.add(
            {"name": name, "thread": "MainThread", "start": now, "end": now, "processor": 0, "faults": 0}
        )

    def add(self, span: dict[str, Any]) -> None:
        """Keep a span of this process, as long as there is space."""
        process = _PROCESSES[self._region % len(_PROCESSES)]
        line = json.dumps({**span, "process": process}).encode() + b"\n"
        with self._lock:
            if self._used + len(line) <= _PROCESS_BYTES:
                start = self._region * _PROCESS_BYTES + self._used
                self._memory[start : start + len(line)] = line
                self._used += len(line)

    def of_last_job(self) -> str:
        """Return the spans of the job before this one, as lines of JSON."""
        start, end = self._bounds(self._region < len(_PROCESSES))
        return self._memory[start:end].replace(b"\0", b"").decode()

    def _bounds(self, is_second: bool) -> tuple[int, int]:
        size = _PROCESS_BYTES * len(_PROCESSES)
        return is_second * size, (is_second + 1) * size


_spans = _Spans()


def warm_up() -> None:
    """Warm up, then wrap the functions of the jail."""
    job.warm_up()
    zygote: Any = sys.modules["__main__"]
    serve, exit_now = zygote._serve, os._exit

    def serve_job(*arguments: Any) -> None:
        _spans.begin_job()
        serve(*arguments)

    def end(status: int) -> None:
        _spans.mark("end")
        exit_now(status)

    wrap(_GUARDS, _spans.add)
    wrap(_WORKER, _spans.add)
    zygote._serve = serve_job
    os._exit = end  # type: ignore[assignment]
    for process, module, name in (
        ("keeper", zygote, "_keep"),
        ("warden", zygote, "_guard"),
        ("worker", job_process, "work"),
    ):
        setattr(module, name, _of_process(process, getattr(module, name)))
    texts = passes._texts

    def texts_of_copy(*arguments: Any) -> Iterator[tuple[str | None, str]]:
        _spans.become("copy")
        yield from texts(*arguments)

    passes._texts = texts_of_copy  # type: ignore[assignment]


def rehearse() -> None:
    """Do a rehearsal of a job."""
    job.rehearse()


def _of_process(process: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function that a process begins with."""

    def begin(*arguments: Any, **options: Any) -> Any:
        _spans.become(process)
        return function(*arguments, **options)

    return begin


def perform(request: Request, emit: Emit) -> None:
    """Execute one job. First emit the spans of the job before it."""
    if spans := _spans.of_last_job():
        emit(Log(LOG, spans))
    job.perform(request, emit)
