"""The first process of a job's namespace: it starts the worker, survives a crash of the worker, and reports.

The warden keeps the beginning and the end of the output, and emits the last events: the output as logs, a
crash or an exceeded limit as a diagnostic, then Done. When the warden ends, all processes of the job end. Its
keeper enforces the limits of memory and time (see `memory`).

A worker may leave a copy for later jobs of the same script. Then the warden stays. Between two jobs, the copy
is stopped, and all other processes have ended. The keeper ends the copy if that changes.
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
from typing import NamedTuple, NoReturn

from explorer.model import Diagnostic, Done, Event, Log, encode_event
from explorer.pipeline import current_work
from explorer.pipeline.forked_copy import ForkedCopy
from explorer.pipeline.tool_output import last_words
from explorer.sandbox import confine, job_process, landlock, linux, memory, source_position
from explorer.sandbox.bounded_output import BoundedFile, BoundedPipe
from explorer.sandbox.settings import MIB, Limits
from explorer.sandbox.source_position import SourcePosition
from explorer.sandbox.stop_reason import StopReason, stop_line

CANCEL_LINE = b"\x18\n"

#: What the warden tells the slot: it is ready for a later job of the script.
PARKED = b"parked"

#: Killed processes take some milliseconds to end.
_PARK_SECONDS = 0.5
_PARK_LOOK_SECONDS = 0.001
_LATER_DESCRIPTORS = 3
_NUMBER_BYTES = 16
_CRASH_LINES = 20
_VERDICT_BYTES = 4096
_NOTICED_SECONDS = 0.1
_READING_SECONDS = 2.0
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


class ScriptOutput(NamedTuple):
    """What a script has written to its standard streams. It is in the log of each job of the script."""

    stdout: str = ""
    stderr: str = ""


class _Streams:
    """The streams of one job that the warden reads and writes, and the ends that the worker gets."""

    def __init__(self, events: int, folder: str, limits: Limits, script: ScriptOutput) -> None:
        output, verdict, position = os.pipe(), os.pipe(), os.pipe()
        self.events = events
        self._script = script
        self.output = BoundedPipe(output[0], limits.output_bytes)
        self.error = BoundedFile(folder, limits.output_bytes)
        self.verdict, self.position = verdict[0], position[0]
        self.outputs = job_process.Outputs(events, verdict[1], position[1])
        self.output_end = output[1]

    def read(self) -> ScriptOutput:
        """Return the output so far, after the output of the script in an earlier job."""
        self.output.drain()
        return ScriptOutput(self._script.stdout + self.output.text(), self._script.stderr + self.error.text())

    def close_ends(self) -> None:
        """Close the ends that the worker has, without the events, which both write."""
        for descriptor in (self.outputs.verdict, self.outputs.place, self.output_end):
            os.close(descriptor)

    def close(self) -> None:
        """Close what `close_ends` leaves open."""
        for descriptor in (
            self.events,
            self.verdict,
            self.position,
            self.output.descriptor,
            self.error.descriptor,
        ):
            os.close(descriptor)


class Warden:
    """Supervises a worker from start to end, and then the workers of later jobs of the same script.

    `link` leads to the keeper (see `memory.enforce`), and `later` to the slot. The warden sends `PARKED` with
    the memory in use when it is ready for a later job, and ends if it is not. The slot sends the descriptors
    of a later job: the request, the events, the connection to a disassembler. `copies` are the two ends of
    the connection to the process that the script leaves for later jobs (see `script_process`). `rules` are
    the Landlock rules for the worker, or None.
    """

    def __init__(
        self,
        link: socket.socket,
        later: socket.socket,
        copies: tuple[socket.socket, socket.socket],
        limits: Limits,
        rules: int | None,
        *,
        jailed: bool,
    ) -> None:
        self._link = link
        self._later = later
        self._copies, self._workers_copies = copies
        self._limits = limits
        self._rules = rules
        self._owns_processes = jailed and limits.owns_processes
        self._folder = ""
        self._copy, self._serves_vendor = 0, False
        self._script = ScriptOutput()
        self._started: float | None = None
        self._verdict = b""

    def run(self, request: int, events: int, disassembler: int, entry_point: str, folder: str) -> NoReturn:
        """Fork the worker of the first job, and report each job."""
        self._folder = folder
        streams = _Streams(events, folder, self._limits, self._script)
        parent = os.getpid()
        worker = os.fork()
        if worker == 0:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            os.setsid()  # A signal to the job's process group must not reach its guards.
            confine.let_in()
            with contextlib.suppress(OSError):
                Path("/proc/self/oom_score_adj").write_text("1000")
            if self._rules is not None:
                landlock.obey(self._rules)
            os.dup2(streams.output_end, 1)
            os.dup2(streams.error.descriptor, 2)
            leaves_copies = self._owns_processes and self._limits.leaves_copies
            copies = self._workers_copies if leaves_copies else None
            kept = [] if copies is None else [copies.fileno()]
            _close_all_but([request, disassembler, *streams.outputs, *kept])
            job_process.work(
                request, disassembler, streams.outputs, copies, entry_point, folder, self._limits
            )
        # Handlers of libraries that the zygote loaded would catch signals from the job.
        linux.drop_signal_handlers()
        for descriptor in (request, disassembler):
            os.close(descriptor)
        self._workers_copies.close()
        if self._rules is not None:
            os.close(self._rules)
        streams.close_ends()
        while self._supervise(worker, streams) and self._park():
            streams.close()
            worker, streams = self._begin_later()
        os._exit(0)

    def _supervise(self, worker: int, streams: _Streams) -> bool:
        """Wait for the verdict of a worker or its end, and report. Return whether it may have later jobs."""
        self._verdict, self._copy = b"", 0
        exceeded = self._watch(worker, streams)
        finished = exceeded is None and self._has_verdict()
        # After a verdict, the worker has written everything, so there is no need to wait for its end.
        report = source_position.request_stack(worker, streams.position) if exceeded else ""
        status = 0 if finished else _stop(worker, everyone=self._owns_processes)
        if finished:
            self._report_verdict(streams)
            return self._copy != 0
        where = source_position.find_position(report + source_position.read_report(streams.position))
        reason: StopReason
        if exceeded is None:
            reason = reason_of_end(status, streams.error.last_text())
            if reason == "crash" and not where.in_python:
                where = self._named_position(where, streams.error.text())
            end = describe_end(status, streams.error.text(), self._limits, where)
        else:
            reason = "time" if isinstance(exceeded, TimeExceeded) else "memory"
            end = describe_limit(exceeded, self._limits, where)
        # A line that takes long is not wrong: the message names it.
        line = 0 if isinstance(exceeded, TimeExceeded) else where.line
        self._report_end(replace(end, line=line), reason, streams)
        return False

    def _named_position(self, where: SourcePosition, error_output: str) -> SourcePosition:
        """Return the position with the lines that the compiler's last words name, if they name any."""
        stage, text = source_position.kept_text(self._folder) if where.work else ("", "")
        # User code may have written both texts, so reading them has a time limit.
        lines = (current_work.named_lines(stage, text, error_output) for _ in range(1))
        for named in filter(None, ForkedCopy(lines).values(_READING_SECONDS)):
            where = replace(where, line=named[0], named=named)
        return where

    def _watch(self, worker: int, streams: _Streams) -> TimeExceeded | MemoryExceeded | None:
        """Wait for a verdict, the end of the worker, or a limit; return the exceeded limit."""
        worker_end = os.pidfd_open(worker)
        output = streams.output
        poller = select.poll()
        copies, link = self._copies.fileno(), self._link.fileno()
        for descriptor in (streams.verdict, output.descriptor, worker_end, link, copies):
            poller.register(descriptor, select.POLLIN)
        try:
            while True:
                ready = {descriptor for descriptor, _ in poller.poll()}
                if output.descriptor in ready and not output.read():
                    poller.unregister(output.descriptor)
                if copies in ready and not self._note_copy(worker, streams):
                    poller.unregister(copies)
                if streams.verdict in ready and not self._take_verdict(streams.verdict, worker):
                    poller.unregister(streams.verdict)
                if self._has_verdict():
                    return None
                if link in ready:  # The keeper writes before it kills.
                    what, *figures = self._link.recv(64).split()
                    if what == b"time":
                        return TimeExceeded(*map(float, figures))
                    return MemoryExceeded(int(figures[0]))
                if worker_end in ready:
                    return None
        finally:
            os.close(worker_end)

    def _has_verdict(self) -> bool:
        return len(self._verdict) > len(job_process.STARTED) and self._verdict.endswith(b"\n")

    def _take_verdict(self, verdict: int, worker: int) -> bool:
        data = os.read(verdict, _VERDICT_BYTES)
        if data and self._started is None:
            self._begin(worker)
        self._verdict = (self._verdict + data)[:_VERDICT_BYTES]
        return bool(data)

    def _begin(self, worker: int) -> None:
        """Tell the keeper that a job begins."""
        self._started = time.monotonic()
        self._link.send(b"%s %d" % (memory.JOB, worker))

    def _note_copy(self, worker: int, streams: _Streams) -> bool:
        """Note the process that a worker leaves for later jobs, and the output of the script.

        Return False when no process can send more.
        """
        try:
            message, descriptors, _, _ = socket.recv_fds(self._copies, _NUMBER_BYTES, 1)
        except OSError:  # The other end was closed before it had read everything.
            return False
        with contextlib.suppress(OSError, ValueError):
            copy, serves_vendor = map(int, message.split())
            if copy > 1 and copy != worker:
                self._link.send(b"%s %d" % (memory.COPY, copy))
                self._copy, self._serves_vendor = copy, serves_vendor == 1
                self._script = streams.read()
        for descriptor in descriptors:  # The worker goes on when all ends are closed.
            os.close(descriptor)
        return bool(message)

    def _park(self) -> bool:
        """End all processes except for the copy, and stop it. Return whether that has worked."""
        deadline = time.monotonic() + _PARK_SECONDS
        try:
            os.kill(-1, signal.SIGSTOP)
            while not self._only_copy_is_left():
                if time.monotonic() > deadline:
                    return False
                time.sleep(_PARK_LOOK_SECONDS)
            self._link.send(b"%s %d" % (memory.PARKED, self._copy))
            while answer := self._link.recv(64):
                if answer.startswith(memory.PARKED):  # Otherwise the job exceeded a limit at its very end.
                    used = int(answer.removeprefix(memory.PARKED))
                    self._later.send(PARKED + b" %d %d" % (used, self._serves_vendor))
                    return True
        except OSError:  # User code has ended the copy, or the slot does not keep the job.
            pass
        return False

    def _only_copy_is_left(self) -> bool:
        """Return whether the copy is stopped and all other processes have ended; send the signals again."""
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        os.kill(self._copy, signal.SIGSTOP)  # The end of its parent may have continued it.
        processes = [each for each in memory.listed_processes() if each != 1]
        for process in processes:
            if process != self._copy:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        return processes == [self._copy] and memory.is_stopped(self._copy)

    def _begin_later(self) -> tuple[int, _Streams]:
        """Wait for a later job, and give it to the copy. Return the process and its streams."""
        poller = select.poll()
        for end in (self._later, self._link):
            poller.register(end, select.POLLIN)
        if self._link.fileno() in dict(poller.poll()):  # The keeper has ended the copy.
            os._exit(0)
        _, descriptors, _, _ = socket.recv_fds(self._later, 1, _LATER_DESCRIPTORS)
        if not descriptors:
            os._exit(0)
        request, events, disassembler = descriptors
        streams = _Streams(events, self._folder, self._limits, self._script)
        worker = self._copy
        self._begin(worker)
        os.kill(worker, signal.SIGCONT)
        ends = [request, disassembler, *streams.outputs, streams.output_end, streams.error.descriptor]
        socket.send_fds(self._copies, [b"job"], ends)
        os.close(request)
        os.close(disassembler)
        streams.close_ends()
        return worker, streams

    def _report_verdict(self, streams: _Streams) -> None:
        self._emit_output(streams)
        verdict = self._verdict.removeprefix(job_process.STARTED)
        if verdict.endswith(CANCEL_LINE):  # a forged verdict, which must be rejected, not skipped
            verdict = verdict.removesuffix(CANCEL_LINE) + b"\n"
        _write_all(streams.events, verdict)

    def _report_end(self, end: Diagnostic, reason: StopReason, streams: _Streams) -> None:
        _write_all(streams.events, CANCEL_LINE + stop_line(reason, CANCEL_LINE))
        self._emit_output(streams)
        _emit(streams, end)
        started = self._started or time.monotonic()
        _emit(streams, Done("failed", (time.monotonic() - started) * 1000, is_transient=True))

    def _emit_output(self, streams: _Streams) -> None:
        stdout, stderr = streams.read()
        if stdout:
            _emit(streams, Log("stdout", stdout))
        if stderr:
            _emit(streams, Log("stderr", stderr))


def _emit(streams: _Streams, event: Event) -> None:
    _write_all(streams.events, encode_event(event))


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
        f"The time limit is {limits.working_seconds:g} seconds"
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
    setting = f" The operator sets the limit with {limits.time_setting}." if limits.time_setting else ""
    return Diagnostic("error", message, hint=advice + setting)


#: LLVM ends the process if it cannot write to a file.
_FILE_TOO_LARGE = "LLVM ERROR: IO failure on output stream: File too large"


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
    if reason == "exit" and _FILE_TOO_LARGE in error_output:
        return Diagnostic(
            "error",
            f"The compiler wrote a file of more than {limits.file_bytes // MIB} MiB, the limit of a job.",
            hint="Use smaller blocks or fewer stages.",
        )
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
    during = f" in {where.work}" if where.work else ""
    hint = "This is a bug in the compiler. The stages before it are shown. Try another Triton version."
    if len(where.named) > 1:
        hint = f"It worked on one of the lines {', '.join(map(str, where.named))}. {hint}"
    return Diagnostic(
        "error",
        f"{what} crashed{during} ({name}: {signal.strsignal(number)}).{reported}",
        hint="" if where.in_python else hint,
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
