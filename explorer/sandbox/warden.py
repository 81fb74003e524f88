"""The first process of a job's namespace: starts the worker, outlives its crash, and reports.

It keeps the beginning and the end of what the worker and its children print, watches time and memory,
and says in the end what happened: the output as logs, a crash or a limit as a diagnostic, then Done.
Its own end is the end of every process that the job has left behind.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from explorer.model import Diagnostic, Done, Event, Log, encode_event
from explorer.sandbox import linux, place, worker
from explorer.sandbox.captured import CapturedFile, CapturedPipe
from explorer.sandbox.place import Place
from explorer.sandbox.settings import MIB, Limits

CANCEL_LINE = b"\x18\n"

_WATCH_MILLISECONDS = 100
_CRASH_LINES = 20
_VERDICT_BYTES = 4096
_OUT_OF_MEMORY = ("std::bad_alloc", "out of memory", "MemoryError", "Cannot allocate memory")


class Warden:
    """Watches over one worker from its start to its end."""

    def __init__(self, events: int, limits: Limits, *, jailed: bool) -> None:
        self._events = events
        self._limits = limits
        self._jailed = jailed
        self._started: float | None = None
        self._verdict = b""

    def run(self, request: int, entry_point: str, folder: str) -> NoReturn:
        """Fork the worker, wait for its verdict or its end, report."""
        output_pipe, verdict_pipe, place_pipe = os.pipe(), os.pipe(), os.pipe()
        output = CapturedPipe(output_pipe[0], self._limits.output_bytes)
        error = CapturedFile(folder, self._limits.output_bytes)
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            with contextlib.suppress(OSError):
                Path("/proc/self/oom_score_adj").write_text("1000")
            os.dup2(output_pipe[1], 1)
            os.dup2(error.descriptor, 2)
            outputs = worker.Outputs(self._events, verdict_pipe[1], place_pipe[1])
            _close_all_but([request, *outputs])
            worker.work(request, outputs, entry_point, folder, self._limits)
        for descriptor in (request, output_pipe[1], verdict_pipe[1], place_pipe[1]):
            os.close(descriptor)
        broken_limit = self._watch(child, verdict_pipe[0], output)
        finished = broken_limit is None and self._has_verdict()
        # After a verdict nobody waits for the worker to be gone: it has written all it had.
        report = place.ask(child, place_pipe[0]) if broken_limit else ""
        status = 0 if finished else _stop(child, everyone=self._jailed and self._limits.owns_processes)
        output.drain()
        if finished:
            self._report_verdict(output, error)
        else:
            where = place.find(report + place.read(place_pipe[0]))
            end = broken_limit or describe_end(status, error.last_text(), self._limits, where)
            self._report_end(replace(end, line=where.line), output, error)
        os._exit(0)

    def _watch(self, child: int, verdict: int, output: CapturedPipe) -> Diagnostic | None:
        """Wait until there is a verdict, the worker has ended, or a limit is reached: which one."""
        worker_end = os.pidfd_open(child)
        poller = select.poll()
        for descriptor in (verdict, output.descriptor, worker_end):
            poller.register(descriptor, select.POLLIN)
        next_look = 0.0
        while True:
            timeout = None if self._started is None else _WATCH_MILLISECONDS
            ready = {descriptor for descriptor, _ in poller.poll(timeout)}
            if output.descriptor in ready and not output.read():
                poller.unregister(output.descriptor)
            if verdict in ready and not self._take_verdict(verdict):
                poller.unregister(verdict)
            if self._has_verdict():
                return None
            if worker_end in ready:
                return None
            now = time.monotonic()
            if self._started is not None and now >= next_look:
                if broken := self._broken_limit(now - self._started):
                    return broken
                next_look = now + _WATCH_MILLISECONDS / 1000

    def _has_verdict(self) -> bool:
        return len(self._verdict) > len(worker.STARTED) and self._verdict.endswith(b"\n")

    def _take_verdict(self, verdict: int) -> bool:
        data = os.read(verdict, _VERDICT_BYTES)
        if data and self._started is None:
            self._started = time.monotonic()
        self._verdict = (self._verdict + data)[:_VERDICT_BYTES]
        return bool(data)

    def _broken_limit(self, seconds: float) -> Diagnostic | None:
        limits = self._limits
        if seconds > limits.wall_seconds:
            return Diagnostic(
                "error",
                f"Stopped after {limits.wall_seconds:g} seconds: the time limit of one job.",
                hint="Look for an endless loop, leave out what is not needed, or make sizes smaller.",
            )
        if self._jailed and (used := _memory_bytes(limits.memory_bytes)) > limits.memory_bytes:
            return Diagnostic(
                "error",
                f"Stopped at {used // MIB:,} MiB: the processes of one job may hold "
                f"{limits.memory_bytes // MIB:,} MiB of memory.",
                hint="Make tensors smaller: shapes matter to the compiler, sizes rarely do.",
            )
        return None

    def _report_verdict(self, output: CapturedPipe, error: CapturedFile) -> None:
        self._emit_output(output, error)
        _write_all(self._events, self._verdict.removeprefix(worker.STARTED))

    def _report_end(self, end: Diagnostic, output: CapturedPipe, error: CapturedFile) -> None:
        _write_all(self._events, CANCEL_LINE)
        self._emit_output(output, error)
        self._emit(end)
        started = self._started or time.monotonic()
        self._emit(Done("failed", (time.monotonic() - started) * 1000, is_transient=True))

    def _emit_output(self, output: CapturedPipe, error: CapturedFile) -> None:
        for source, text in (("stdout", output.text()), ("stderr", error.text())):
            if text:
                self._emit(Log(source, text))

    def _emit(self, event: Event) -> None:
        _write_all(self._events, encode_event(event))


def describe_end(status: int, error_output: str, limits: Limits, where: Place) -> Diagnostic:
    """Say why a worker that gave no verdict has ended, from its wait status and what it printed last."""
    lines = error_output.strip().splitlines()[-_CRASH_LINES:]
    last_lines = "".join(f"\n{line}" for line in lines)
    if not os.WIFSIGNALED(status):
        code = os.waitstatus_to_exitcode(status)
        return Diagnostic(
            "error",
            f"The process ended early, with exit status {code}.{last_lines}",
            hint="The source may have ended it (os._exit), or closed or replaced what it needs.",
        )
    number = os.WTERMSIG(status)
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number == signal.SIGXCPU:
        return Diagnostic(
            "error",
            f"Stopped after {limits.cpu_seconds} seconds of computing: the processor limit of one job.",
            hint="Look for an endless loop. A kernel that takes this long to compile unrolls too much; "
            "one that is run needs smaller sizes.",
        )
    if any(sign in error_output for sign in _OUT_OF_MEMORY):
        return Diagnostic(
            "error",
            f"Out of memory: a job may use {limits.memory_bytes // MIB:,} MiB.{last_lines}",
            hint="Use smaller blocks, fewer stages or smaller tensors.",
        )
    if number == signal.SIGKILL:
        return Diagnostic(
            "error",
            f"The process was killed (SIGKILL).{last_lines}",
            hint="Most likely the machine ran out of memory, or the processor limit was reached.",
        )
    if number == signal.SIGSYS:
        return Diagnostic(
            "error",
            f"The source made a system call that the sandbox does not know (SIGSYS).{last_lines}",
            hint="The sandbox has no network, and gives no privileges.",
        )
    what = "Native code that the source calls has" if where.in_python else "The compiler has"
    return Diagnostic(
        "error",
        f"{what} crashed ({name}: {signal.strsignal(number)}).{last_lines}",
        hint=""
        if where.in_python
        else "This is a bug in the compiler. What was made before is shown; try another Triton version.",
    )


def _stop(child: int, *, everyone: bool) -> int:
    """Kill what is left of the job but the warden itself; return the worker's wait status."""
    with contextlib.suppress(ChildProcessError, ProcessLookupError):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == 0:
            os.kill(child, signal.SIGKILL)
        if everyone:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        if pid == 0:
            _, status = os.waitpid(child, 0)
        return status
    return 0


def _memory_bytes(limit: int) -> int:
    """Add up what the processes of this namespace hold: an upper bound, exact when that is over `limit`."""
    namespace = str(Path("/proc/self/ns/pid").readlink())
    page_bytes = resource.getpagesize()
    folders = []
    upper_bound = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                if str(Path(f"{entry.path}/ns/pid").readlink()) == namespace:
                    upper_bound += int(Path(f"{entry.path}/statm").read_text().split()[1]) * page_bytes
                    folders.append(entry.path)
    if upper_bound <= limit:
        return upper_bound
    total = 0
    for folder in folders:
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in Path(f"{folder}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


def _close_all_but(kept: list[int]) -> None:
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, 1 << 16)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
