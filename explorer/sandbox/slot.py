"""One slot of a jail, as the web side sees it: start it, run one job at a time, discard it.

The process of the next job is forked and confined as soon as the previous job has ended, so each request
finds a prepared process. After each job, its namespace is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import get_args

from explorer.model import CANCELED, Diagnostic, Done, Event, Progress, Request, to_plain
from explorer.monitoring.metrics import sandbox_stops
from explorer.sandbox import control_group, linux
from explorer.sandbox.disassemblers import Disassemblers
from explorer.sandbox.errors import ProtocolError, SlotBroken
from explorer.sandbox.jail import Jail, Zygote
from explorer.sandbox.job_process import BEGUN_LINE
from explorer.sandbox.launcher import Launcher
from explorer.sandbox.priority import lower_priority
from explorer.sandbox.protocol import EventStream
from explorer.sandbox.stop_reason import StopReason
from explorer.sandbox.warden import PARKED

for _reason in get_args(StopReason):
    sandbox_stops.labels(_reason)  # a rate needs the 0 before the first stop
#: The extra time of the web side beyond the warden's limit. The warden can still report the output.
_GRACE_SECONDS = 2.0
_STEP_SECONDS = 10.0
_PARK_SECONDS = 1.0
#: A kept process of a script takes milliseconds to begin its next job.
_BEGIN_SECONDS = 5.0
_CANCEL_LOOK_SECONDS = 0.05
_READ_BYTES = 1 << 20
_PIPE_BYTES = 1 << 20
_MESSAGE_BYTES = 64
_LOGGED_BYTES = 500


class Slot:
    """A zygote that executes jobs. One thread at a time may use it.

    With `jail`, the slot shares this jail. Otherwise the slot has its own jail.
    """

    def __init__(
        self,
        launcher: Launcher,
        triton: Path | None,
        entry_point: str,
        jail: Jail | None = None,
        disassemblers: Disassemblers | None = None,
    ) -> None:
        self._settings = launcher.settings
        self._triton = triton
        self._owns_jail = jail is None
        self._jail = Jail(launcher, entry_point) if jail is None else jail
        self._disassemblers = disassemblers
        self._disassembler: socket.socket | None = None
        self._group: control_group.ControlGroup | None = None
        self._namespace = -1
        self._request = -1
        self._events = -1
        self._has_ended = False
        #: The connection to the warden of the last job, for later jobs of its script.
        self._later: socket.socket | None = None
        #: Whether the process of the last job's script may stay, and whether it has stayed.
        self.may_stay = False
        self.has_script = False
        self.jobs_done = 0
        try:
            self._zygote = self._jail.fork(triton)
        except BaseException:
            if self._owns_jail:
                self._jail.close()
            raise
        try:
            if launcher.bubblewrap is not None:
                self._group = control_group.enclose(self._zygote.process, self._settings.limits.memory_bytes)
            self._prepare()
        except BaseException:
            self.close()
            raise

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The outermost process of the jail: bubblewrap, or the first zygote without a jail."""
        return self._jail.process

    @property
    def zygote(self) -> Zygote:
        """The process that executes the jobs."""
        return self._zygote

    def is_alive(self) -> bool:
        """Return whether the slot can execute another job."""
        return self._zygote.is_idle()

    def run(
        self,
        request: Request,
        is_cancelled: Callable[[], bool],
        *,
        yields: bool = False,
        keeps: bool = False,
    ) -> Generator[Event, None, None]:
        """Execute one job, with a lower priority if it `yields`. Yield its events, Done last.

        With `keeps`, the process of the script may stay for later jobs of the same script: then `may_stay` is
        true, and `wait_until_parked` must be called. Closing the iterator kills the job.

        Raises:
            SlotBroken: the jail is gone, or the job's processes were killed before they emitted a result.
                Another slot may retry the job unless events other than progress were delivered.
        """
        deadline = time.monotonic() + self._settings.limits.most_wall_seconds + _GRACE_SECONDS
        started = time.monotonic()
        problem: Diagnostic | None = None
        reason: StopReason | None
        is_later, self.has_script, self.may_stay = self.has_script, False, False
        try:
            if is_later:
                self._begin_later()
            self._connect_disassembler(request)
            begin_deadline = time.monotonic() + _BEGIN_SECONDS if is_later else deadline
            reason = yield from self._stream(request, is_cancelled, begin_deadline, deadline, yields)
            self.may_stay = keeps and reason is None
        except _JobEnded as end:
            problem, reason = end.diagnostic, end.reason
        except ProtocolError as error:
            reason = "invalid result"
            problem = Diagnostic(
                "error",
                f"The result was rejected: {error}.",
                hint="The source may have written to the event stream, or its result is too large.",
            )
        finally:
            if not self.may_stay:
                self._kill_job()
            self.jobs_done += 1
        if reason is not None:
            sandbox_stops.labels(reason).inc()
        if problem is not None:
            yield problem
            yield Done("failed", (time.monotonic() - started) * 1000, is_transient=True)

    def wait_until_parked(self) -> tuple[int, bool]:
        """Return the memory that the process of the script uses, in bytes, or 0 if it does not stay.

        The second value is whether its later jobs may have other targets of the same vendor.
        """
        assert self._later is not None
        used_bytes = serves_vendor = 0
        if linux.wait_for_input(self._later.fileno(), seconds=_PARK_SECONDS):
            with contextlib.suppress(OSError, ValueError):
                message = self._later.recv(_MESSAGE_BYTES)
                used_bytes, serves_vendor = map(int, message.removeprefix(PARKED).split())
        self._close_streams()
        self.has_script = used_bytes > 0
        if not self.has_script:
            self._kill_job()
        return used_bytes, bool(serves_vendor)

    def next(self) -> None:
        """Prepare the process of the next job.

        Raises:
            SlotBroken: the zygote does not respond.
        """
        if not self._has_ended:
            self._zygote.expect("ended", _STEP_SECONDS)
        self._prepare()

    def close(self) -> None:
        """Kill the processes of the slot, and its own jail if it has one."""
        self._kill_job()
        self._zygote.close()
        self._jail.give_back(self._triton)
        if self._owns_jail:
            self._jail.close()
        if self._group is not None:
            self._group.remove()

    def end_jail(self) -> None:
        """Kill the slot's own jail, also while another thread executes a job in it."""
        if self._owns_jail:
            self._jail.close()

    def _prepare(self) -> None:
        """Make the zygote fork and confine the process of the next job."""
        self._later, their_later = linux.connected_sockets(socket.SOCK_SEQPACKET)
        with self._streams() as streams, their_later:
            self._zygote.command("job", *streams, their_later.fileno())
        _, descriptors = self._zygote.expect("started", _STEP_SECONDS)
        if len(descriptors) != 1:
            raise SlotBroken("the zygote sent no handle of the job")
        self._namespace = descriptors[0]
        self._has_ended = False

    def _begin_later(self) -> None:
        """Give the kept process of the script the streams of its next job."""
        assert self._later is not None
        with self._streams() as streams:
            try:
                socket.send_fds(self._later, [b"job"], streams)
            except OSError as error:
                raise SlotBroken(f"the kept process of a script has ended: {error}") from error

    @contextlib.contextmanager
    def _streams(self) -> Iterator[tuple[int, int, int]]:
        """Create the streams of a job. Lend the ends that its processes get."""
        their_request, self._request = os.pipe()
        self._events, their_events = os.pipe()
        with contextlib.suppress(OSError):
            fcntl.fcntl(self._events, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        os.set_blocking(self._request, False)
        self._disassembler, their_disassembler = linux.connected_sockets()
        try:
            yield their_request, their_events, their_disassembler.fileno()
        finally:
            os.close(their_request)
            os.close(their_events)
            their_disassembler.close()

    def _connect_disassembler(self, request: Request) -> None:
        """Pass the other end of the job's connection on, or close it: then the job starts nvdisasm itself."""
        assert self._disassembler is not None
        if self._disassemblers is not None and request.task == "compile":
            self._disassemblers.offer(self._triton, request.target, self._disassembler)
        self._close_disassembler()

    def _close_disassembler(self) -> None:
        if self._disassembler is not None:
            self._disassembler.close()
            self._disassembler = None

    def _stream(
        self,
        request: Request,
        is_cancelled: Callable[[], bool],
        begin_deadline: float,
        deadline: float,
        lowers_priority: bool,
    ) -> Generator[Event, None, StopReason | None]:
        """Send the request and yield events until Done. Return why the warden stopped the job, if so."""
        pending = memoryview(json.dumps(to_plain(request)).encode())
        stream = EventStream(self._settings)
        poller = select.poll()
        poller.register(self._events, select.POLLIN)
        poller.register(self._request, select.POLLOUT)
        has_begun = has_results = False
        while True:
            ready = dict(poller.poll(_CANCEL_LOOK_SECONDS * 1000))
            if is_cancelled():
                raise _JobEnded("canceled", CANCELED)
            if not has_begun and time.monotonic() > begin_deadline:
                raise SlotBroken("the kept process of a script does not respond")
            if time.monotonic() > deadline:
                seconds = self._settings.limits.most_wall_seconds
                raise _JobEnded(
                    "time",
                    Diagnostic(
                        "error",
                        f"The job was stopped after {seconds:g} seconds, the longest time of a job.",
                        hint="Check for an endless loop, remove unneeded code, or reduce the sizes.",
                    ),
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
                if not has_begun and not data.startswith(
                    BEGUN_LINE
                ):  # The warden reports the end of the worker.
                    raise SlotBroken(f"the job's process ended before it began: {data[:_LOGGED_BYTES]!r}")
                if not has_begun and lowers_priority:
                    lower_priority(self._namespace)
                has_begun = True
                for event in stream.feed(data):
                    has_results = has_results or not isinstance(event, Progress)
                    yield event
                    if isinstance(event, Done):
                        return stream.stop_reason

    def _send(self, pending: memoryview) -> memoryview:
        try:
            return pending[os.write(self._request, pending) :]
        except BlockingIOError:
            return pending
        except BrokenPipeError:
            return pending[len(pending) :]  # The end of the event stream has more information.

    def _explain_silence(self, has_results: bool) -> None:
        """Handle a job that ended without Done: raise if the whole jail died, or return a diagnostic."""
        self._zygote.expect("ended", _STEP_SECONDS)
        self._has_ended = True
        if not has_results:
            raise SlotBroken("the job's processes were killed before they emitted a result")
        raise _JobEnded(
            "killed",
            Diagnostic(
                "error",
                "The job's processes were killed.",
                hint="The machine probably ran out of memory. Try again with smaller tensors.",
            ),
        )

    def _kill_job(self) -> None:
        """Kill the first process of the job's namespace, and thereby all others. Close the pipes."""
        if self._namespace >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._namespace, signal.SIGKILL)
        self._close_streams()
        if self._later is not None:
            self._later.close()
            self._later = None
        if self._namespace >= 0:
            os.close(self._namespace)
            self._namespace = -1

    def _close_streams(self) -> None:
        self._close_disassembler()
        for name in ("_request", "_events"):
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
            setattr(self, name, -1)


class _JobEnded(Exception):
    def __init__(self, reason: StopReason, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.reason = reason
        self.diagnostic = diagnostic
