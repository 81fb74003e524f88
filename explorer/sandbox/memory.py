"""The memory limit of a job, enforced by the job's keeper, together with the time limit. Jail side.

The keeper is the parent of the warden. It is outside the job's process namespace, and keeps the
capabilities of the job's user namespace, so a job can neither see nor signal, trace or limit the keeper. The
keeper shares the job's mounts: its /proc lists the processes of the job, and its /tmp is the job's /tmp.

The count includes the memory that belongs to no file (anonymous and shared), its swapped-out part, page
tables, the files in /tmp, and the most that the buffers of the job's sockets can hold. The system call filter
refuses calls that hold memory elsewhere. Pages of files, such as libraries, are not counted: the kernel can
drop them. Memory that a process shares with its forked children counts for each of them: the kernel's exact
numbers (smaps_rollup) wait for a lock that the job can hold for seconds.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import socket
import time
from collections.abc import Iterable
from pathlib import Path

from explorer.sandbox import linux
from explorer.sandbox.job_time import JobTime
from explorer.sandbox.settings import GIB, MIB, Limits

#: What the warden tells the keeper, each with the number of a process: the job of a worker begins; its
#: process leaves a copy for later jobs; the job has ended and only the stopped copy is left.
JOB, COPY, PARKED = b"job", b"copy", b"parked"

#: The highest rate at which one processor can fill new memory.
_FILL_BYTES_PER_SECOND = 3 * GIB
_LONGEST_WAIT_SECONDS = 0.05
_SHORTEST_WAIT_SECONDS = 0.002
#: The share of the limit by which a job may exceed it while its worker reports its source line.
_REPORT_SHARE = 0.05

_HELD = re.compile(rb"^(?:RssAnon|RssShmem|VmSwap|VmPTE):\s+(\d+) kB", re.MULTILINE)
#: PF_FORKNOEXEC of the kernel.
_HAS_NOT_EXECUTED = 0x40
_DEFAULT_BUFFER_BYTES = 212_992
_SOCKETS = re.compile(rb"^sockets: used (\d+)", re.MULTILINE)


class JobMemory:
    """The memory of one job. Create it before the job begins, when its guards have all their sockets."""

    def __init__(self, limits: Limits, *, jailed: bool, zygote: int) -> None:
        """`zygote` is the process that the job descends from."""
        self._limits = limits
        self._jailed = jailed
        self._zygote = zygote
        self._guards: set[int] = set()
        # Opened here: /proc/self leads nowhere once the /proc of the job is mounted.
        self._socket_table = os.open("/proc/self/net/sockstat", os.O_RDONLY) if jailed else -1
        self._socket_bytes = _most_bytes_of_a_socket(limits)
        self._own_sockets = self._count_sockets()

    def find_guards(self, warden: int) -> None:
        """Note the processes that do not belong to the job. Call this when the job's /proc is mounted."""
        try:
            Path("/proc/self").readlink()
            self._guards = {1, os.getpid(), warden, *_ancestors()}
        except OSError:  # The job's own /proc: this process is not in it, and the warden is the first.
            self._guards = {1}

    def processes(self) -> list[int]:
        """Return the processes of the job, by their numbers in /proc."""
        found = listed_processes() if self._jailed else _descendants(self._zygote)
        return [process for process in found if process not in self._guards]

    def used_bytes(self) -> int:
        others = self._scratch_bytes() + self._count_sockets(self._own_sockets) * self._socket_bytes
        processes = self.processes()
        used = others + sum(map(held_bytes, processes))
        if used > self._limits.memory_bytes:
            # The states are read first: a child that executes its program meanwhile has released the memory.
            states = _states(processes)
            held = {process: held_bytes(process) for process in processes}
            used = others + sum(held.values()) - sum(_shared_until_exec(states, held))
        return used

    def kill(self, spared: int = 0) -> None:
        """Kill all processes of the job except for `spared`."""
        for process in self.processes():
            if process != spared:
                _kill(process)

    def end(self, process: int) -> None:
        """Kill one process of the job, and wait a short time until it has released its memory."""
        if process in self.processes():
            _kill(process)
            deadline = time.monotonic() + _LONGEST_WAIT_SECONDS
            while held_bytes(process) and time.monotonic() < deadline:
                time.sleep(_SHORTEST_WAIT_SECONDS / 10)

    def _scratch_bytes(self) -> int:
        if not self._jailed:
            return 0
        scratch = os.statvfs("/tmp")  # noqa: S108  the job's own
        return (scratch.f_blocks - scratch.f_bfree) * scratch.f_frsize

    def _count_sockets(self, ignored: int = 0) -> int:
        if self._socket_table < 0:
            return 0
        found = _SOCKETS.search(os.pread(self._socket_table, 4096, 0))
        return max(int(found[1]) - ignored, 0) if found else 0


def enforce(memory: JobMemory, limits: Limits, warden: int, link: socket.socket) -> None:
    """Watch the jobs of a warden until it ends. Stop a job that exceeds its memory limit.

    The warden says over `link` when a job begins. If the job exceeds the memory limit, the warden receives
    `memory` with the number of bytes, and reports them when all processes of the job have ended. If the job
    exceeds the time limit, the warden receives `time` with the elapsed seconds and the seconds in which the
    job waited for a processor, and stops the job. A copy of the job's process ends first if the job needs its
    memory. Between two jobs, the warden receives `PARKED` with the number of bytes in use, and then nothing
    may be left but the stopped copy. Otherwise the link ends, and the warden with it.
    """
    poller = select.poll()
    poller.register(os.pidfd_open(warden), select.POLLIN)
    poller.register(link, select.POLLIN)
    message = link.recv(64) if poller.poll() else b""
    while message:
        what, process = message.split()
        if what == PARKED:
            message = _watch_copy(memory, limits, poller, link, int(process))
            continue
        memory.find_guards(warden)
        linux.respond_quickly()
        message = _watch_job(memory, limits, poller, link, int(process))
    link.shutdown(socket.SHUT_RDWR)


def _watch_job(
    memory: JobMemory, limits: Limits, poller: select.poll, link: socket.socket, worker: int
) -> bytes:
    """Watch one job. Return the message of the warden that ends it; empty: the warden has ended."""
    fill_rate = _FILL_BYTES_PER_SECOND * (os.cpu_count() or 1)
    job_time: JobTime | None = JobTime(limits, memory.processes)
    copy = 0
    while (used := memory.used_bytes()) <= limits.memory_bytes or copy:
        if used > limits.memory_bytes:
            memory.end(copy)
            copy = 0
            continue
        wait = (limits.memory_bytes - used) / fill_rate
        if poller.poll(1000 * min(max(wait, _SHORTEST_WAIT_SECONDS), _LONGEST_WAIT_SECONDS)):
            message = link.recv(64)
            if not message.startswith(COPY):
                return message
            copy = int(message.split()[1])
        if job_time and (seconds := job_time.exceeded()):
            job_time = None
            with contextlib.suppress(OSError):
                link.send(b"time %.2f %.2f" % seconds)
    with contextlib.suppress(OSError):
        link.send(b"memory %d" % used)
    report_end = time.monotonic() + _REPORT_SHARE * limits.memory_bytes / fill_rate
    while True:
        memory.kill(spared=worker if time.monotonic() < report_end else 0)
        if poller.poll(1000 * _SHORTEST_WAIT_SECONDS) and not link.recv(64).startswith(COPY):
            return b""


def _watch_copy(
    memory: JobMemory, limits: Limits, poller: select.poll, link: socket.socket, copy: int
) -> bytes:
    """Watch the time between two jobs. Return the warden's next message; empty: it must not go on."""
    used = memory.used_bytes()
    has_answered = False
    # The warden says that a job begins before it continues the copy.
    while not poller.poll(1000 * _LONGEST_WAIT_SECONDS if has_answered else 0):
        if memory.processes() != [copy] or not is_stopped(copy) or memory.used_bytes() > limits.memory_bytes:
            if poller.poll(0):
                break
            memory.kill()
            return b""
        if not has_answered:
            link.send(PARKED + b" %d" % used)
            has_answered = True
    return link.recv(64)


def listed_processes() -> list[int]:
    """Return the processes in /proc, by their numbers."""
    return [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]


def is_stopped(process: int) -> bool:
    """Return whether a signal has stopped a process."""
    return _states([process]).get(process, ("", 0, 0))[0] == "T"


def _kill(process: int) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(f"/proc/{process}", os.O_RDONLY | os.O_DIRECTORY)
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def held_bytes(process: int | str) -> int:
    """Return the memory that a process holds; 0 if it has ended. `process` is its name in /proc."""
    try:
        with open(f"/proc/{process}/status", "rb", buffering=0) as status:  # noqa: PTH123  a Path takes longer
            return 1024 * sum(map(int, _HELD.findall(status.read())))
    except (FileNotFoundError, ProcessLookupError):
        return 0


def _states(processes: Iterable[int]) -> dict[int, tuple[str, int, int]]:
    """Return the state, the parent and the flags of each process that has not ended."""
    states: dict[int, tuple[str, int, int]] = {}
    for process in processes:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            states[process] = (fields[0], int(fields[1]), int(fields[6]))
    return states


def _shared_until_exec(states: dict[int, tuple[str, int, int]], held: dict[int, int]) -> Iterable[int]:
    """Return the bytes that are counted twice while a process starts a program by vfork.

    The parent waits in the uninterruptible state until the child executes the program. Meanwhile both use the
    same memory. A waiting parent has exactly one child in this phase.
    """
    shared: dict[int, int] = {}
    for process, (_, parent, flags) in states.items():
        if flags & _HAS_NOT_EXECUTED and states.get(parent, ("", 0, 0))[0] == "D":
            shared[parent] = min(held[process], shared.get(parent, held[parent]))
    return shared.values()


def _ancestors() -> Iterable[int]:
    """Return the zygotes: the parent of this process, its parent, and so on."""
    process = os.getppid()
    while process > 0:
        yield process
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _descendants(process: int) -> list[int]:
    """Return the children of a process, their children, and so on."""
    found = [process]
    for parent in found:
        threads: list[Path] = []
        with contextlib.suppress(OSError):  # the process has ended
            threads = list(Path(f"/proc/{parent}/task").iterdir())
        for thread in threads:
            with contextlib.suppress(OSError):
                found += map(int, (thread / "children").read_text().split())
    return found[1:]


def _most_bytes_of_a_socket(limits: Limits) -> int:
    """Return the most that the kernel keeps for one socket that a job has created."""
    # A buffer has twice the configured size, and accepts one more message while any part is free.
    most = 4 * _network_setting("core/wmem_max", _DEFAULT_BUFFER_BYTES)
    if limits.opens_sockets:
        received = 4 * _network_setting("core/rmem_max", _DEFAULT_BUFFER_BYTES)
        tcp = _network_setting("ipv4/tcp_wmem", 4 * MIB) + _network_setting("ipv4/tcp_rmem", 6 * MIB)
        most = max(most, received, tcp)
    return most


def _network_setting(name: str, default: int) -> int:
    """Return a setting of the kernel. In a namespace, older kernels hide some settings."""
    try:
        return int(Path(f"/proc/sys/net/{name}").read_text().split()[-1])
    except FileNotFoundError:
        return default
