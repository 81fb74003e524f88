"""The process that runs user code: a request in, events out, and nothing comes back from it.

User code shares this interpreter and can write whatever it likes to the event pipe; it can only ever
spoil its own result.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, NoReturn

from explorer.model import Diagnostic, Done, Event, Request, Specialized, decode_request, encode_event
from explorer.sandbox import linux, place
from explorer.sandbox.settings import MIB, Limits

#: Told to the warden when the request is there and time starts to count.
STARTED = b"\n"

#: Told to the web side at the same time: a line that counts as cut short, so as no event.
BEGUN_LINE = b"begun\x18\n"

#: Longer messages are cut: nobody reads them.
_MESSAGE_CHARACTERS = 20_000


class Outputs(NamedTuple):
    """The descriptors that a worker writes to: events, Done, and where it stands."""

    events: int
    verdict: int
    place: int


def name_limit(event: Event, limits: Limits) -> Event:
    """Say which limit of the sandbox is behind an error of the operating system."""
    if not isinstance(event, Diagnostic) or event.severity != "error" or event.hint:
        return event
    hints = {
        "MemoryError": f"A job may have {limits.memory_bytes // MIB:,} MiB of memory: make sizes smaller.",
        "Resource temporarily unavailable": f"A job may have {limits.processes} processes and threads.",
        "can't start new thread": f"A job may have {limits.processes} processes and threads.",
        "Too many open files": f"A process of a job may have {limits.open_files} open files.",
        "File too large": f"A file of a job may have {limits.file_bytes // MIB} MiB.",
        "No space left on device": f"A job has {limits.scratch_bytes // MIB} MiB and "
        f"{limits.scratch_files:,} files in its temporary folder.",
        "Read-only file system": "A job can write to its temporary folder only.",
        "Operation not permitted": "The sandbox has no network, and gives no privileges.",
    }
    for sign, hint in hints.items():
        if sign in event.message:
            return replace(event, hint=hint)
    return event


def shorten(event: Event) -> Event:
    """Cut a message that is too long."""
    if isinstance(event, Diagnostic) and len(event.message) > _MESSAGE_CHARACTERS:
        cut = len(event.message) - _MESSAGE_CHARACTERS
        return replace(
            event, message=f"{event.message[:_MESSAGE_CHARACTERS]} [… {cut:,} characters left out]"
        )
    return event


def work(request: int, outputs: Outputs, entry_point: str, folder: str, limits: Limits) -> NoReturn:
    """Read a request, write events, and Done, last, to a descriptor of its own."""
    events, verdict, standing = outputs
    place.report_to(standing)
    os.environ.update(HOME=folder, TMPDIR=folder, TRITON_CACHE_DIR=f"{folder}/.triton")
    os.chdir(folder)
    tempfile.tempdir = None
    data = _read_all(request)
    if not data:
        os._exit(0)  # the web side has gone
    os.write(verdict, STARTED)
    _write_all(events, BEGUN_LINE)
    began = time.perf_counter()
    finished = False
    worker = os.getpid()

    def emit(event: Event) -> None:
        nonlocal finished
        if os.getpid() != worker:
            os._exit(1)  # a child that user code has forked does not speak for the job
        if finished:
            return
        if isinstance(event, Specialized):
            place.report_kernel(standing, event.line)
        line = encode_event(shorten(name_limit(event, limits)))
        if isinstance(event, Done):
            finished = True
            _flush()
            _write_all(verdict, line)
        else:
            _write_all(events, line)

    try:
        perform: Callable[[Request, Callable[[Event], None]], None] = importlib.import_module(
            entry_point
        ).perform
        perform(decode_request(data), emit)
        failure = "The pipeline ended without a result."
    except MemoryError:
        failure = "The program used up the memory that one job may have."
    except SystemExit as error:
        failure = f"The program left the process: SystemExit({error.code!r})."
    except BaseException as error:
        try:
            failure = f"{type(error).__name__}: {error}"
        except BaseException:  # the exception is the user's, and so is what makes a text of it
            failure = type(error).__name__
    if not finished:
        emit(Diagnostic("error", failure))
        emit(Done("failed", (time.perf_counter() - began) * 1000))
    os._exit(0)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: S112  user code may have closed or replaced it
            continue
    linux.flush_standard_output()


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
