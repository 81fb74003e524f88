"""The zygotes of one jail, as the web side sees them.

The first zygote has imported the modules that all Triton versions share. It forks a zygote for each version
in use, and the version's zygote forks a zygote for each slot. So the memory of these imports is used once.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

from explorer.sandbox import linux
from explorer.sandbox.errors import SlotBroken
from explorer.sandbox.launcher import Launcher, end_jail

_STEP_SECONDS = 10.0
_END_SECONDS = 1.0
_ANSWER_BYTES = 4096
_SHOWN_BYTES = 2000


class Zygote:
    """A process of a jail that obeys commands. `handle` is its process descriptor, or -1."""

    def __init__(self, control: socket.socket, errors: IO[bytes], handle: int = -1) -> None:
        self._control = control
        self._errors = errors
        self._handle = handle

    @property
    def process(self) -> int:
        """Its process ID, as the web side sees it.

        Raises:
            SlotBroken: the process has ended.
        """
        fields = Path(f"/proc/self/fdinfo/{self._handle}").read_text().splitlines()
        process = next(int(field.split()[1]) for field in fields if field.startswith("Pid:"))
        if process <= 0:
            raise SlotBroken("the zygote has ended")
        return process

    def is_idle(self) -> bool:
        """Return whether the process is alive and has sent no unexpected message."""
        handle = () if self._handle < 0 else (self._handle,)
        return not linux.wait_for_input(self._control.fileno(), *handle, seconds=0)

    def command(self, text: str, *descriptors: int) -> None:
        """Send a command with descriptors.

        Raises:
            SlotBroken: the process has ended.
        """
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
        try:
            self._control.sendmsg([text.encode()], [rights] if descriptors else [])
        except OSError as error:
            raise SlotBroken(f"the zygote is gone: {error}{self.last_words()}") from error

    def expect(self, kind: str, seconds: float) -> tuple[Any, array.array[int]]:
        """Wait for an answer of `kind`. Return its value and its descriptors.

        Raises:
            SlotBroken: no answer arrives within this time, or an answer of another kind.
        """
        self._control.settimeout(seconds)
        descriptors = array.array("i")
        try:
            data, ancillary, _, _ = self._control.recvmsg(
                _ANSWER_BYTES, socket.CMSG_SPACE(descriptors.itemsize)
            )
        except TimeoutError:
            raise SlotBroken(f"no answer within {seconds:g} seconds{self.last_words()}") from None
        except OSError as error:
            raise SlotBroken(f"the zygote is gone: {error}{self.last_words()}") from error
        for level, message_kind, payload in ancillary:
            if (level, message_kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(payload)
        message = json.loads(data) if data else {}
        if kind not in message:
            for descriptor in descriptors:
                os.close(descriptor)
            reason = message.get("failed") or (f"{message}" if message else "it ended")
            raise SlotBroken(f"expected {kind!r} from the zygote: {reason}{self.last_words()}")
        return message[kind], descriptors

    def fork(self) -> Zygote:
        """Fork another zygote.

        Raises:
            SlotBroken: this zygote does not respond.
        """
        ours, theirs = linux.connected_sockets(socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self.command("fork", theirs.fileno())
            _, descriptors = self.expect("forked", _STEP_SECONDS)
        except BaseException:
            ours.close()
            raise
        return Zygote(ours, self._errors, *descriptors)

    def interrupt(self) -> None:
        """Fail the wait for an answer in another thread. Afterwards, only `close` may be called."""
        with contextlib.suppress(OSError):  # the socket is closed
            self._control.shutdown(socket.SHUT_RDWR)

    def last_words(self) -> str:
        """Return the last output of the jail, for the log and the operator."""
        if self._errors.closed:
            return ""
        size = os.fstat(self._errors.fileno()).st_size
        text = os.pread(self._errors.fileno(), _SHOWN_BYTES, max(size - _SHOWN_BYTES, 0))
        shown = text.decode("utf-8", "replace").strip()
        return f"\n{shown}" if shown else ""

    def close(self) -> None:
        """Kill the process, and thereby all zygotes and jobs that it has forked."""
        self._control.close()
        if self._handle >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            linux.wait_for_input(self._handle, seconds=_STEP_SECONDS)
            os.close(self._handle)
            self._handle = -1


class Jail:
    """A jail and its zygotes. It starts when the first zygote is needed. Thread-safe.

    A version's zygote stays until `end_unused`.
    """

    def __init__(self, launcher: Launcher, entry_point: str) -> None:
        self._launcher = launcher
        self._entry_point = entry_point
        self._lock = threading.Lock()
        # A jail ends with the thread that started it.
        self._starter = ThreadPoolExecutor(1, "sandbox-jail")
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._first: Zygote | None = None
        self._starting: Zygote | None = None
        self._versions: dict[Path | None, Zygote] = {}
        self._users: Counter[Path | None] = Counter()
        self._closed = False

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The outermost process: bubblewrap, or the first zygote itself without a jail."""
        assert self._process is not None
        return self._process

    def fork(self, triton: Path | None) -> Zygote:
        """Fork a zygote for a slot of a Triton version. Call `give_back` when it is closed.

        Raises:
            SlotBroken: the jail or the version does not start.
        """
        with self._lock:
            if self._closed:
                raise SlotBroken("the jail is closed")
            zygote = self._fork_again(triton)
            if zygote is None:
                is_new = self._process is None
                try:
                    zygote = self._start_version(triton).fork()
                except SlotBroken:
                    if is_new or not self._jail_ends():
                        raise
                    zygote = self._start_version(triton).fork()
            self._users[triton] += 1
            return zygote

    def has_started(self, triton: Path | None) -> bool:
        """Return whether the zygote of a version has been started."""
        return triton in self._versions

    def give_back(self, triton: Path | None) -> None:
        """Note that the zygote of a slot was closed."""
        with self._lock:
            self._users[triton] -= 1

    def end_unused(self, triton: Path | None) -> None:
        """End the zygote of a version that no slot uses, and the jail if no version is left."""
        with self._lock:
            if self._users[triton] > 0:
                return
            if triton in self._versions:
                self._versions.pop(triton).close()
            if not self._versions:
                self._end_jail()

    def interrupt(self) -> None:
        """Fail the running start and all further starts, which would delay the closing by seconds."""
        self._closed = True
        if (starting := self._starting) is not None:
            starting.interrupt()

    def close(self) -> None:
        """Kill the jail and all its processes."""
        with self._lock:
            self._closed = True
            self._end_jail()
        self._starter.shutdown()

    def _fork_again(self, triton: Path | None) -> Zygote | None:
        """Fork the zygote of a version that has started, or return None if none responds."""
        version = self._versions.get(triton)
        if version is None:
            return None
        with contextlib.suppress(SlotBroken):
            return version.fork()
        self._versions.pop(triton).close()
        return None

    def _start_version(self, triton: Path | None) -> Zygote:
        if self._process is None or self._process.poll() is not None or not self._first_is_idle():
            self._end_jail()
            self._start_jail()
        assert self._first is not None
        version = self._first.fork()
        try:
            version.command(f"warm up {triton or ''}")
            self._expect_start(version)
        except BaseException:
            version.close()
            raise
        self._versions[triton] = version
        return version

    def _jail_ends(self) -> bool:
        """Return whether the jail has been killed: its processes do not all end at the same moment."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            assert self._process is not None
            self._process.wait(_END_SECONDS)
            return True
        return not self._first_is_idle()

    def _first_is_idle(self) -> bool:
        return self._first is not None and self._first.is_idle()

    def _start_jail(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  `_end_jail` closes it
        ours, theirs = linux.connected_sockets(socket.SOCK_SEQPACKET)
        self._first = Zygote(ours, self._errors)
        with theirs:
            starting = self._starter.submit(
                self._launcher.start, theirs.fileno(), self._errors, self._entry_point
            )
            self._process = starting.result()
        try:
            self._expect_start(self._first)
        except BaseException:
            self._end_jail()
            raise

    def _expect_start(self, zygote: Zygote) -> None:
        self._starting = zygote
        try:
            if self._closed:
                raise SlotBroken("the jail is closed")
            zygote.expect("ready", self._launcher.settings.start_seconds)
        finally:
            self._starting = None

    def _end_jail(self) -> None:
        for zygote in self._versions.values():
            zygote.close()
        self._versions.clear()
        if self._process is not None:
            # The first zygote ends when its socket is closed, and bubblewrap with it, which then waits for no
            # other process.
            if self._launcher.bubblewrap is not None:
                end_jail(self._process)
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._first is not None:
            self._first.close()
            self._first = None
        if self._errors is not None:
            self._errors.close()
            self._errors = None
