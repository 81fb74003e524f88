"""Warm disassemblers, one for each Triton version and architecture in use. Web side.

Each is a jail with an nvdisasm that is a fork server (`nvdisasm_server.c`). A job gets a connection to a
child of the server, and the child ends with the job. A disassembler starts when a first job could use it. It
gets jobs after its listing of a test cubin was equal to the listing of an ordinary nvdisasm. It ends after
some time without jobs. Without a disassembler, the job starts nvdisasm itself.
"""

from __future__ import annotations

import array
import contextlib
import logging
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from explorer.model.hardware import UnknownTarget, find_target
from explorer.pipeline.warm_disassembler import LENGTH, ask
from explorer.sandbox import control_group, linux
from explorer.sandbox.errors import SlotBroken
from explorer.sandbox.launcher import Launcher, end_jail
from explorer.sandbox.warm_disassembler import LIBRARY

_log = logging.getLogger(__name__)

_MESSAGE_BYTES = 1 << 18
_START_SECONDS = 30.0
_LOOK_SECONDS = 1.0
#: A disassembler that was used within this time is not ended to make room for a new one.
_BUSY_SECONDS = 30.0
#: A busy machine may need more than one attempt.
_TRIES = 3


#: The folder of the Triton version, and the compute capability.
_Key = tuple[Path | None, int]


class Disassemblers:
    """The disassemblers of one sandbox. Thread-safe."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self._lock = threading.Lock()
        self._running: dict[_Key, _Disassembler] = {}
        self._failures: dict[_Key, int] = {}
        self._closed = False
        self._problems: dict[_Key, str] = {}

    def offer(self, triton: Path | None, target: str, connection: socket.socket) -> None:
        """Give `connection` to a child of the disassembler for a target, if there is one.

        Otherwise start a disassembler for the next job. The caller closes its `connection`.
        """
        capability = _capability(target)
        if capability is None or self._impossible:
            return
        most = self._launcher.settings.warm_disassemblers
        key = (triton, capability)
        with self._lock:
            found = self._running.get(key)
            if found is None and not self._closed and self._failures.get(key, 0) < _TRIES:
                self._start(key, most)
        if found is not None:
            found.give(connection)

    def close(self) -> None:
        """End all disassemblers, and wait for their end."""
        with self._lock:
            self._closed = True
            running = list(self._running.values())
        for each in running:
            each.stop()
        for each in running:
            each.join()

    @property
    def _impossible(self) -> str:
        """The reason why no disassembler is possible."""
        if self._launcher.bubblewrap is None:
            return "A disassembler needs a jail."
        if self._launcher.settings.warm_disassemblers == 0:
            return "The settings allow no disassembler."
        if not LIBRARY.is_file():
            return "The library that makes nvdisasm a fork server was not built."
        return ""

    @property
    def problem(self) -> str:
        """The reason why a job may have to start nvdisasm itself, for the health report."""
        with self._lock:
            failed = [
                f"sm_{key[1]}: {why}" for key, why in self._problems.items() if key not in self._running
            ]
        return self._impossible or " ".join(failed)

    @property
    def ready(self) -> list[str]:
        """The architectures that have a disassembler, for the health report."""
        with self._lock:
            return sorted({f"sm_{key[1]}" for key, each in self._running.items() if each.is_ready})

    def _start(self, key: _Key, most: int) -> None:
        """Start a disassembler. If there are too many, end an idle one instead, or do nothing."""
        if len(self._running) >= most:
            oldest = min(self._running.values(), key=lambda each: each.used)
            if time.monotonic() - oldest.used > _BUSY_SECONDS:
                oldest.stop()
            return
        started = _Disassembler(self._launcher, *key, on_end=lambda: self._forget(key, started))
        self._running[key] = started
        started.start()

    def _forget(self, key: _Key, ended: _Disassembler) -> None:
        with self._lock:
            self._running.pop(key, None)
            self._problems.pop(key, None)
            if not ended.problem:
                return
            self._problems[key] = ended.problem
            if not ended.has_started:
                self._failures[key] = self._failures.get(key, 0) + 1


class _Disassembler(threading.Thread):
    """One jail. The jail dies with the thread that starts it, so this thread lives as long as the jail."""

    def __init__(
        self, launcher: Launcher, triton: Path | None, capability: int, on_end: Callable[[], None]
    ) -> None:
        super().__init__(name=f"disassembler-{capability}", daemon=True)
        self._launcher = launcher
        self._triton = triton
        self._capability = capability
        self._on_end = on_end
        self._control, self._theirs = linux.connected_sockets(socket.SOCK_SEQPACKET)
        self.process: subprocess.Popen[bytes] | None = None
        self._group: control_group.ControlGroup | None = None
        self.is_ready = self.has_started = False
        self.problem = ""
        self.used = time.monotonic()
        self.stopped = threading.Event()

    def give(self, connection: socket.socket) -> None:
        """Pass a connection to the jail, if it is ready."""
        self.used = time.monotonic()
        if self.is_ready:
            with contextlib.suppress(OSError):
                self._pass_on(connection)

    def stop(self) -> None:
        """End the jail soon."""
        self.stopped.set()
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def run(self) -> None:
        """Start the jail, compare one listing, and wait until nobody needs it any more."""
        try:
            with tempfile.TemporaryFile() as errors:
                try:
                    with self._theirs:
                        self.process = self._launcher.start_disassembler(
                            self._theirs.fileno(), errors, self._triton, self._capability
                        )
                    self._compare()
                    limit_bytes = self._launcher.settings.limits.memory_bytes
                    self._group = control_group.enclose(self.process.pid, limit_bytes)
                    self.is_ready = self.has_started = True
                    self._wait()
                except (OSError, SlotBroken) as error:
                    errors.seek(0)
                    said = errors.read(2000).decode(errors="replace").strip()
                    if not self.stopped.is_set():
                        self.problem = str(error)
                        _log.warning("The disassembler for sm_%d: %s %s", self._capability, error, said)
                finally:
                    self.is_ready = False
                    self._control.close()
                    if self.process is not None:
                        end_jail(self.process)
                    if self._group is not None:
                        self._group.remove()
        finally:
            self._on_end()

    def _pass_on(self, connection: socket.socket) -> None:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [connection.fileno()]))
        self._control.sendmsg([b"1"], [rights], socket.MSG_DONTWAIT)

    def _compare(self) -> None:
        """Request the listing of the test cubin.

        Raises:
            SlotBroken: the listing differs from that of an ordinary nvdisasm, or does not arrive.
        """
        self._control.settimeout(_START_SECONDS)
        message = self._control.recv(_MESSAGE_BYTES)
        if self._control.recv(16) != b"ready":
            raise SlotBroken("nvdisasm did not become a fork server.")
        (length,) = LENGTH.unpack_from(message)
        cubin, expected = message[LENGTH.size : LENGTH.size + length], message[LENGTH.size + length :]
        ours, theirs = linux.connected_sockets()
        with ours:
            with theirs:
                self._pass_on(theirs)
            if not expected or ask(ours, cubin, 2 * len(expected)) != expected:
                raise SlotBroken("its listing differs from that of nvdisasm.")

    def _wait(self) -> None:
        idle = self._launcher.settings.disassembler_idle_seconds
        while not self.stopped.wait(_LOOK_SECONDS) and time.monotonic() - self.used < idle:
            if linux.wait_for_input(self._control.fileno(), seconds=0):
                raise SlotBroken("it ended unexpectedly.")


def _capability(target: str) -> int | None:
    """Return the compute capability of a target, such as 90; None if it is not an NVIDIA target."""
    try:
        found = find_target(target)
    except UnknownTarget:
        return None
    return int(found.triton_architecture) if found.backend == "cuda" else None
