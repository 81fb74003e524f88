"""One jail with its zygote, seen from the web side: start it, run one job at a time, throw it away.

The next job's process is forked and locked in as soon as the last one has gone, so that a request meets
a process that only waits for it. Whatever a job did, its namespace is killed at its end.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer.model import Diagnostic, Done, Event, Progress, Request, to_plain
from explorer.sandbox.errors import ProtocolError, SlotBroken
from explorer.sandbox.launch import Launch
from explorer.sandbox.protocol import EventStream
from explorer.sandbox.worker import BEGUN_LINE

#: How much longer than the warden, which can still say what was printed, this side waits.
_GRACE_SECONDS = 2.0
_STEP_SECONDS = 10.0
_CANCEL_LOOK_SECONDS = 0.05
_READ_BYTES = 1 << 20
_PIPE_BYTES = 1 << 20
_LOGGED_BYTES = 500


class Slot:
    """A running zygote. Belongs to the thread that made it."""

    def __init__(self, launch: Launch, triton: Path | None, entry_point: str) -> None:
        self._settings = launch.settings
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._namespace = -1
        self._request = -1
        self._events = -1
        self._has_ended = False
        self.jobs_done = 0
        try:
            with theirs:
                self._process = launch.start(theirs.fileno(), self._errors, triton, entry_point)
        except BaseException:
            self._control.close()
            self._errors.close()
            raise
        try:
            self._expect("ready", self._settings.start_seconds)
            self._prepare()
        except BaseException:
            self.close()
            raise

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The outermost process: bubblewrap, or the zygote itself without a jail."""
        return self._process

    def is_alive(self) -> bool:
        """Tell whether the slot could still take a job."""
        return self._process.poll() is None and not select.select([self._control], [], [], 0)[0]

    def run(
        self, request: Request, is_cancelled: Callable[[], bool], deliver: Callable[[Event], None]
    ) -> None:
        """Run one job; deliver its events as they come, the last of them Done.

        Raises:
            SlotBroken: the jail is gone, or the job's processes were killed before they found out anything.
                Unless more than progress was delivered, another one may try again.
        """
        deadline = time.monotonic() + self._settings.limits.wall_seconds + _GRACE_SECONDS
        started = time.monotonic()
        problem: Diagnostic | None = None
        try:
            self._stream(request, is_cancelled, deadline, deliver)
        except _JobEnded as end:
            problem = end.diagnostic
        except ProtocolError as error:
            problem = Diagnostic(
                "error",
                f"The result was refused: {error}.",
                hint="The source may have interfered with its own result, or it is too large to show.",
            )
        finally:
            self._kill_job()
        self.jobs_done += 1
        if problem is not None:
            deliver(problem)
            deliver(Done("failed", (time.monotonic() - started) * 1000, is_transient=True))

    def next(self) -> None:
        """Make ready for the next job.

        Raises:
            SlotBroken: the zygote does not answer.
        """
        if not self._has_ended:
            self._expect("ended", _STEP_SECONDS)
        self._prepare()

    def close(self) -> None:
        """Kill the jail and all that is in it."""
        self._kill_job()
        self._process.kill()
        self._process.wait()
        self._control.close()
        self._errors.close()

    def _prepare(self) -> None:
        """Have the zygote fork and lock in the process of the next job."""
        their_request, self._request = os.pipe()
        self._events, their_events = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._events, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        os.set_blocking(self._request, False)
        rights = array.array("i", [their_request, their_events])
        try:
            self._control.sendmsg([b"job"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        except OSError as error:
            raise SlotBroken(f"the zygote is gone: {error}") from error
        finally:
            os.close(their_request)
            os.close(their_events)
        _, descriptors = self._expect("started", _STEP_SECONDS)
        if len(descriptors) != 1:
            raise SlotBroken("the zygote sent no handle on the job")
        self._namespace = descriptors[0]
        self._has_ended = False

    def _expect(self, kind: str, seconds: float) -> tuple[Any, array.array[int]]:
        """Wait for a message of `kind` from the zygote."""
        self._control.settimeout(seconds)
        descriptors = array.array("i")
        try:
            data, ancillary, _, _ = self._control.recvmsg(4096, socket.CMSG_SPACE(descriptors.itemsize))
        except TimeoutError:
            raise SlotBroken(f"no answer within {seconds:g} seconds{self._last_words()}") from None
        except OSError as error:
            raise SlotBroken(f"the zygote is gone: {error}{self._last_words()}") from error
        for level, message_kind, payload in ancillary:
            if (level, message_kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(payload)
        message = json.loads(data) if data else {}
        if kind not in message:
            for descriptor in descriptors:
                os.close(descriptor)
            reason = message.get("failed") or (f"{message}" if message else "it ended")
            raise SlotBroken(f"expected {kind!r} from the zygote: {reason}{self._last_words()}")
        return message[kind], descriptors

    def _last_words(self) -> str:
        """What the zygote printed last, for the log and the operator."""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(size - 2000, 0))
        text = self._errors.read().decode("utf-8", "replace").strip()
        return f"\n{text}" if text else ""

    def _stream(
        self,
        request: Request,
        is_cancelled: Callable[[], bool],
        deadline: float,
        deliver: Callable[[Event], None],
    ) -> None:
        """Write the request and read events until Done."""
        pending = memoryview(json.dumps(to_plain(request)).encode())
        stream = EventStream(self._settings)
        poller = select.poll()
        poller.register(self._events, select.POLLIN)
        poller.register(self._request, select.POLLOUT)
        has_begun = has_results = False
        while True:
            ready = dict(poller.poll(_CANCEL_LOOK_SECONDS * 1000))
            if is_cancelled():
                raise _JobEnded(Diagnostic("error", "Cancelled.", hint="Start it again."))
            if time.monotonic() > deadline:
                seconds = self._settings.limits.wall_seconds
                raise _JobEnded(
                    Diagnostic(
                        "error",
                        f"Stopped after {seconds:g} seconds: the time limit of one job.",
                        hint="Look for an endless loop, leave out what is not needed, or make sizes smaller.",
                    )
                )
            if self._request in ready:
                pending = self._send(pending)
                if not pending:
                    poller.unregister(self._request)
                    os.close(self._request)
                    self._request = -1
            if self._events in ready:
                data = os.read(self._events, _READ_BYTES)
                if not data:
                    self._explain_silence(has_results)
                if not has_begun and not data.startswith(BEGUN_LINE):  # the warden tells of the worker's end
                    raise SlotBroken(f"the job's process ended before it began: {data[:_LOGGED_BYTES]!r}")
                has_begun = True
                for event in stream.feed(data):
                    has_results = has_results or not isinstance(event, Progress)
                    deliver(event)
                    if isinstance(event, Done):
                        return

    def _send(self, pending: memoryview) -> memoryview:
        try:
            return pending[os.write(self._request, pending) :]
        except BlockingIOError:
            return pending
        except BrokenPipeError:
            return pending[len(pending) :]  # the events' end says more

    def _explain_silence(self, has_results: bool) -> None:
        """The job is gone without Done: was it the job's warden that died, or the whole jail?"""
        if self._process.poll() is not None:
            raise SlotBroken(f"the jail ended in the middle of a job{self._last_words()}")
        self._expect("ended", _STEP_SECONDS)
        self._has_ended = True
        if not has_results:
            raise SlotBroken("the job's processes were killed before they found out anything")
        raise _JobEnded(
            Diagnostic(
                "error",
                "The job's processes were killed.",
                hint="Most likely the machine ran out of memory. Try again, with smaller tensors.",
            )
        )

    def _kill_job(self) -> None:
        """Kill the namespace's first process, and with it everything inside; close the pipes."""
        if self._namespace >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._namespace, signal.SIGKILL)
        for name in ("_namespace", "_request", "_events"):
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
            setattr(self, name, -1)


class _JobEnded(Exception):
    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic
