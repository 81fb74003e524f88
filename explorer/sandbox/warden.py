"""The first process of a job's namespace: it starts the worker, survives a crash of the worker, and reports.

The warden keeps the beginning and the end of the output, and emits the last events: the output as logs, a
crash or an exceeded limit as a diagnostic, then Done. When the warden ends, all processes of the job end. Its
keeper enforces the limits of memory and time (see `memory`).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from explorer.model import Diagnostic, Done, Event, Log, encode_event
from explorer.pipeline.tool_output import last_words
from explorer.sandbox import confine, job_process, landlock, linux, source_position
from explorer.sandbox.bounded_output import BoundedFile, BoundedPipe
from explorer.sandbox.settings import MIB, Limits
from explorer.sandbox.source_position import SourcePosition
from explorer.sandbox.stop_reason import StopReason, stop_line

CANCEL_LINE = b"\x18\n"

_CRASH_LINES = 20
_VERDICT_BYTES = 4096
_NOTICED_SECONDS = 0.1
_OUT_OF_MEMORY = ("std::bad_alloc", "out of memory", "MemoryError", "Cannot allocate memory")


@dataclass(frozen=True)
class TimeExceeded:
    """The keeper found that the time of the job is over, and how long it has waited for a processor."""

    elapsed_seconds: float
    waited_seconds: float


@dataclass(frozen=True)
class MemoryExceeded:
    """The keeper found that the job used this much memory."""

    used_bytes: int


class Warden:
    """Supervises one worker from start to end.

    `link` leads to the keeper. `rules` are the Landlock rules for the worker, or None.
    """

    def __init__(
        self, events: int, link: socket.socket, limits: Limits, rules: int | None, *, jailed: bool
    ) -> None:
        self._events = events
        self._link = link
        self._limits = limits
        self._rules = rules
        self._jailed = jailed
        self._started: float | None = None
        self._verdict = b""

    def run(self, request: int, disassembler: int, entry_point: str, folder: str) -> NoReturn:
        """Fork the worker, wait for its verdict or its end, and report."""
        output_pipe, verdict_pipe, position_pipe = os.pipe(), os.pipe(), os.pipe()
        output = BoundedPipe(output_pipe[0], self._limits.output_bytes)
        error = BoundedFile(folder, self._limits.output_bytes)
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            os.setsid()  # A signal to the job's process group must not reach its guards.
            confine.let_in()
            with contextlib.suppress(OSError):
                Path("/proc/self/oom_score_adj").write_text("1000")
            if self._rules is not None:
                landlock.obey(self._rules)
            os.dup2(output_pipe[1], 1)
            os.dup2(error.descriptor, 2)
            outputs = job_process.Outputs(self._events, verdict_pipe[1], position_pipe[1])
            _close_all_but([request, disassembler, *outputs])
            job_process.work(request, disassembler, outputs, entry_point, folder, self._limits)
        # Handlers of libraries that the zygote loaded would catch signals from the job.
        linux.drop_signal_handlers()
        for descriptor in (request, disassembler, output_pipe[1], verdict_pipe[1], position_pipe[1]):
            os.close(descriptor)
        if self._rules is not None:
            os.close(self._rules)
        exceeded = self._watch(child, verdict_pipe[0], output)
        finished = exceeded is None and self._has_verdict()
        # After a verdict, the worker has written everything, so there is no need to wait for its end.
        report = source_position.request_stack(child, position_pipe[0]) if exceeded else ""
        status = 0 if finished else _stop(child, everyone=self._jailed and self._limits.owns_processes)
        output.drain()
        if finished:
            self._report_verdict(output, error)
        else:
            where = source_position.find_position(report + source_position.read_report(position_pipe[0]))
            reason: StopReason
            if exceeded is None:
                reason = reason_of_end(status, error.last_text())
                end = describe_end(status, error.text(), self._limits, where)
            else:
                reason = "time" if isinstance(exceeded, TimeExceeded) else "memory"
                end = describe_limit(exceeded, self._limits, where)
            # A line that takes long is not wrong: the message names it.
            line = 0 if isinstance(exceeded, TimeExceeded) else where.line
            self._report_end(replace(end, line=line), reason, output, error)
        os._exit(0)

    def _watch(self, child: int, verdict: int, output: BoundedPipe) -> TimeExceeded | MemoryExceeded | None:
        """Wait for a verdict, the end of the worker, or a limit; return the exceeded limit."""
        worker_end = os.pidfd_open(child)
        poller = select.poll()
        for descriptor in (verdict, output.descriptor, worker_end, self._link.fileno()):
            poller.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poller.poll()}
            if output.descriptor in ready and not output.read():
                poller.unregister(output.descriptor)
            if verdict in ready and not self._take_verdict(verdict, child):
                poller.unregister(verdict)
            if self._has_verdict():
                return None
            if self._link.fileno() in ready:  # The keeper writes before it kills.
                what, *figures = self._link.recv(64).split()
                return (
                    TimeExceeded(*map(float, figures)) if what == b"time" else MemoryExceeded(int(figures[0]))
                )
            if worker_end in ready:
                return None

    def _has_verdict(self) -> bool:
        return len(self._verdict) > len(job_process.STARTED) and self._verdict.endswith(b"\n")

    def _take_verdict(self, verdict: int, child: int) -> bool:
        data = os.read(verdict, _VERDICT_BYTES)
        if data and self._started is None:
            self._started = time.monotonic()
            self._link.send(b"%d" % child)
        self._verdict = (self._verdict + data)[:_VERDICT_BYTES]
        return bool(data)

    def _report_verdict(self, output: BoundedPipe, error: BoundedFile) -> None:
        self._emit_output(output, error)
        verdict = self._verdict.removeprefix(job_process.STARTED)
        if verdict.endswith(CANCEL_LINE):  # a forged verdict, which must be rejected, not skipped
            verdict = verdict.removesuffix(CANCEL_LINE) + b"\n"
        _write_all(self._events, verdict)

    def _report_end(
        self, end: Diagnostic, reason: StopReason, output: BoundedPipe, error: BoundedFile
    ) -> None:
        _write_all(self._events, CANCEL_LINE + stop_line(reason, CANCEL_LINE))
        self._emit_output(output, error)
        self._emit(end)
        started = self._started or time.monotonic()
        self._emit(Done("failed", (time.monotonic() - started) * 1000, is_transient=True))

    def _emit_output(self, output: BoundedPipe, error: BoundedFile) -> None:
        for source, text in (("stdout", output.text()), ("stderr", error.text())):
            if text:
                self._emit(Log(source, text))

    def _emit(self, event: Event) -> None:
        _write_all(self._events, encode_event(event))


def describe_limit(
    exceeded: TimeExceeded | MemoryExceeded, limits: Limits, where: SourcePosition
) -> Diagnostic:
    """Explain which limit a job exceeded, and what to do about it."""
    if isinstance(exceeded, MemoryExceeded):
        return Diagnostic(
            "error",
            f"The job was stopped at {exceeded.used_bytes // MIB:,} MiB of memory. The limit of a job is "
            f"{limits.memory_bytes // MIB:,} MiB.",
            hint="Use smaller tensors. The compiler rarely depends on their sizes.",
        )
    elapsed = round(exceeded.elapsed_seconds * 1000)
    ends = [*(began for _, began in where.steps[1:]), elapsed]
    durations = {what: end - began for (what, began), end in zip(where.steps, ends, strict=False)}
    longest = max(durations, key=lambda what: durations[what], default="")
    message = (
        f"The job was stopped after {exceeded.elapsed_seconds:.1f} seconds. "
        f"The time limit is {limits.wall_seconds:g} seconds"
    )
    if exceeded.waited_seconds >= _NOTICED_SECONDS:
        message += f", without the {exceeded.waited_seconds:.1f} seconds of waiting for a processor"
    message += "."
    if where.line and longest == "the script":
        message += f" Line {where.line} of the source was being executed."
    if longest:
        message += f" The longest step was {longest}: {durations[longest] / 1000:.1f} s."
    advice = (
        "Check for an endless loop, remove unneeded code, or reduce the sizes."
        if longest in ("", "the script")
        else "Reduce block sizes, stages or unrolled loops."
    )
    setting = f" The operator sets the limit with {limits.wall_setting}." if limits.wall_setting else ""
    return Diagnostic("error", message, hint=advice + setting)


def reason_of_end(status: int, error_output: str) -> StopReason:
    """Return why a worker ended without a verdict, from its wait status and its last output."""
    if not os.WIFSIGNALED(status):
        return "exit"
    number = os.WTERMSIG(status)
    if number == signal.SIGXCPU:
        return "processor time"
    if any(sign in error_output for sign in _OUT_OF_MEMORY):
        return "memory"
    reasons: dict[int, StopReason] = {signal.SIGKILL: "killed", signal.SIGSYS: "system call"}
    return reasons.get(number, "crash")


def describe_end(status: int, error_output: str, limits: Limits, where: SourcePosition) -> Diagnostic:
    """Explain why a worker ended without a verdict, from its wait status and its last output."""
    lines = error_output.strip().splitlines()[-_CRASH_LINES:]
    last_lines = "".join(f"\n{line}" for line in lines)
    reason = reason_of_end(status, error_output)
    if reason == "exit":
        code = os.waitstatus_to_exitcode(status)
        return Diagnostic(
            "error",
            f"The process ended before the job was done, with exit status {code}.{last_lines}",
            hint="The source may have called os._exit, or closed or replaced what the job needs.",
        )
    number = os.WTERMSIG(status)
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if reason == "processor time":
        return Diagnostic(
            "error",
            f"The job was stopped after {limits.cpu_seconds} seconds of processor time, its limit.",
            hint="Check for an endless loop. A kernel that takes this long to compile unrolls too much; "
            "a run needs smaller sizes.",
        )
    if reason == "memory":
        return Diagnostic(
            "error",
            f"Out of memory: the limit of a job is {limits.memory_bytes // MIB:,} MiB.{last_lines}",
            hint="Use smaller blocks, fewer stages or smaller tensors.",
        )
    if reason == "killed":
        return Diagnostic(
            "error",
            f"The process was killed (SIGKILL).{last_lines}",
            hint="The machine probably ran out of memory, or the job reached its processor limit.",
        )
    if reason == "system call":
        return Diagnostic(
            "error",
            f"The source made a system call that the sandbox does not allow (SIGSYS).{last_lines}",
            hint="The sandbox has no network and grants no privileges. Remove the call.",
        )
    what = "Native code that the source calls has" if where.in_python else "The compiler has"
    words = last_words(error_output)
    reported = f"\n{words}" if words else last_lines
    return Diagnostic(
        "error",
        f"{what} crashed ({name}: {signal.strsignal(number)}).{reported}",
        hint=""
        if where.in_python
        else "This is a bug in the compiler. The stages before it are shown. Try another Triton version.",
    )


def _stop(child: int, *, everyone: bool) -> int:
    """Kill all processes of the job except the warden. Return the worker's wait status."""
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
