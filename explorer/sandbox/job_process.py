"""The process that executes user code: a request in, events out.

User code shares this interpreter and can write anything to the event pipe. It can only damage its own result.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, NoReturn

from explorer.model import (
    Diagnostic,
    Done,
    Event,
    Inspection,
    Request,
    Specialized,
    Stage,
    decode_request,
)
from explorer.pipeline import current_work, script_process, time_limit, warm_disassembler
from explorer.sandbox import confine, linux, memory, source_position, written_pages
from explorer.sandbox.event_encoder import EventEncoder
from explorer.sandbox.settings import MIB, Limits

#: Sent to the warden when the request has arrived. The time limit starts then.
STARTED = b"\n"

#: The number of descriptors of a later job: the request, the disassembler, `Outputs`, and the two standard
#: streams.
LATER_DESCRIPTORS = 7

#: A process that uses more than this part of the memory of a job leaves no copy.
_SMALL_PART = 4

#: Sent to the web side at the same time: a line that counts as incomplete and is ignored.
BEGUN_LINE = b"begun\x18\n"


class Outputs(NamedTuple):
    """The descriptors that a worker writes to: events, Done, and its source position."""

    events: int
    verdict: int
    place: int


def name_limit(event: Event, limits: Limits) -> Event:
    """Explain an error of the operating system by the sandbox limit that caused it."""
    if not isinstance(event, Diagnostic) or event.severity != "error" or event.hint:
        return event
    hints = {
        "MemoryError": f"The memory limit of a job is {limits.memory_bytes // MIB:,} MiB. Reduce the sizes.",
        "Resource temporarily unavailable": f"The limit is {limits.processes} processes and threads.",
        "can't start new thread": f"The limit is {limits.processes} processes and threads.",
        "Too many open files": f"The limit of a process is {limits.open_files} open files.",
        "File too large": f"The size limit of a file is {limits.file_bytes // MIB} MiB.",
        "No space left on device": f"A job has {limits.scratch_bytes // MIB} MiB and "
        f"{limits.scratch_files:,} files in its temporary folder.",
        "Read-only file system": "A job can only write to its temporary folder.",
        "Operation not permitted": "The sandbox has no network and grants no privileges.",
    }
    for sign, hint in hints.items():
        if sign in event.message:
            return replace(event, hint=hint)
    return event


def work(
    request: int,
    disassembler: int,
    outputs: Outputs,
    copies: socket.socket | None,
    entry_point: str,
    folder: str,
    limits: Limits,
) -> NoReturn:
    """Read a request, write events, and write Done, last, to a separate descriptor.

    With `copies`, the process leaves a copy for later jobs of the same script (see `script_process`), which
    gets their descriptors from this socket.
    """
    warm_disassembler.use(disassembler)
    time_limit.set_job_seconds(limits.working_seconds)
    events, verdict, standing = outputs
    source_position.report_to(standing)
    os.environ.update(HOME=folder, TMPDIR=folder, TRITON_CACHE_DIR=f"{folder}/.triton")
    os.chdir(folder)
    tempfile.tempdir = None
    job = importlib.import_module(entry_point)
    if hasattr(job, "get_ready"):
        job.get_ready()
    written_pages.copy()

    worker = os.getpid()

    def begin(request: int) -> Request:
        nonlocal worker
        data = _read_all(request)
        if not data:
            os._exit(0)  # The web side has closed the connection.
        worker = os.getpid()
        source_position.forget_text(folder)
        time_limit.begin_job()
        os.write(verdict, STARTED)
        _write_all(events, BEGUN_LINE)
        return decode_request(data)

    def leave_copy(serves_vendor: bool) -> Request | None:
        assert copies is not None
        _flush()
        # A copy would hold the ends of pipes to children of the script, and its memory counts, too.
        is_unfit = _has_children() or memory.held_bytes("self") > limits.memory_bytes // _SMALL_PART
        # What a job executes must not change what later jobs find: neither the copy, nor which process it is.
        confine.keep_out()
        try:
            copy = -1 if is_unfit else os.fork()
        except OSError:  # The script has used up its processes or memory.
            copy = -1
        if copy:
            confine.let_in()
            with copies, contextlib.suppress(OSError):
                if copy > 0:
                    _announce(copy, serves_vendor, copies)
            return None
        for stream in (*outputs, 1, 2):
            os.dup2(nothing, stream, inheritable=stream <= 2)
        warm_disassembler.disconnect()
        _, (request, disassembler, *streams), _, _ = socket.recv_fds(copies, 1, LATER_DESCRIPTORS)
        for ours, theirs in zip((*outputs, 1, 2), streams, strict=True):
            os.dup2(theirs, ours, inheritable=ours <= 2)
            os.close(theirs)
        confine.let_in()
        source_position.report_to(standing)
        warm_disassembler.use(disassembler)
        return begin(request)

    def begin_work(what: str) -> None:
        if os.getpid() == worker:  # A copy that prints modules runs the same passes.
            source_position.report_work(standing, what)

    def keep_text(stage: str, text: str) -> None:
        if os.getpid() == worker:
            source_position.keep_text(folder, stage, text)

    current_work.report_to(begin_work, keep_text)
    finished = False
    encoder = EventEncoder()
    nothing = os.open(os.devnull, os.O_RDWR)
    if copies is not None:
        script_process.use(leave_copy)

    def emit(event: Event) -> None:
        nonlocal finished
        if os.getpid() != worker:
            os._exit(1)  # A child that user code forked must not report the result of the job.
        if finished:
            return
        if isinstance(event, Specialized):
            source_position.report_kernel(standing, event.line)
        if isinstance(event, Inspection | Stage):
            step = "compiling" if isinstance(event, Inspection) else f"the step after {event.title}"
            source_position.report_step(standing, time_limit.elapsed_seconds() * 1000, step)
        is_last = isinstance(event, Done)
        if is_last:
            finished = True
            _flush()
        for line in encoder.encode(name_limit(event, limits)):
            _write_all(verdict if is_last else events, line)

    try:
        perform: Callable[[Request, Callable[[Event], None]], None] = job.perform
        first = begin(request)
        source_position.report_step(standing, 0, "the script")
        perform(first, emit)
        failure = "The pipeline ended without a result."
    except MemoryError:
        failure = "The program exceeded the memory limit of a job."
    except SystemExit as error:
        failure = f"The program ended the process: SystemExit({error.code!r})."
    except BaseException as error:
        try:
            failure = f"{type(error).__name__}: {error}"
        except BaseException:  # The exception may be a user's class. Converting it to text may fail.
            failure = type(error).__name__
    if not finished:
        emit(Diagnostic("error", failure))
        emit(Done("failed", time_limit.elapsed_seconds() * 1000))
    os._exit(0)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: S112  user code may have closed or replaced it
            continue
    linux.flush_standard_output()


def _announce(copy: int, serves_vendor: bool, copies: socket.socket) -> None:
    """Tell the warden the number of a copy, and wait until it has read what the script has written."""
    wait, noted = os.pipe()
    socket.send_fds(copies, [b"%d %d" % (copy, serves_vendor)], [noted])
    os.close(noted)
    os.read(wait, 1)
    os.close(wait)


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _read_all(descriptor: int) -> bytes:
    parts = []
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    os.close(descriptor)
    return b"".join(parts)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
