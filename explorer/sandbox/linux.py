"""Linux system calls that Python does not provide. Jail side."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import struct
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

_ADDR_NO_RANDOMIZE = 0x0040000
_MADV_DONTNEED = 4
_MADV_POPULATE_WRITE = 23
_SHORTEST_SLICE_NANOSECONDS = 100_000
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mount.argtypes = [
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_ulong,
    ctypes.c_char_p,
]
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_libc.personality.argtypes = [ctypes.c_ulong]
_libc.syscall.restype = ctypes.c_long


def _check(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def system_call(number: int, *arguments: int | ctypes.Array[ctypes.c_char]) -> int:
    """Make a system call by its number: arguments are integers or buffers.

    Raises:
        OSError: the call has failed.
    """
    given = [each if isinstance(each, ctypes.Array) else ctypes.c_long(each) for each in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *given)
    if result < 0:
        _check(result, f"system call {number}")
    return result


def unshare(flags: int) -> None:
    """Move this process to new namespaces of the kinds that `flags` name."""
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount a file system in the current mount namespace."""
    arguments = [text.encode() for text in (source, target, kind)]
    _check(_libc.mount(*arguments, flags, data.encode()), f"mount {target}")


def drop_signal_handlers() -> None:
    """Reset every signal to its default action, also where a library has installed the handler."""
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)


def prctl(option: int, *values: int) -> None:
    """Call `prctl` for the current process."""
    padded = (*values, 0, 0, 0, 0)[:4]
    _check(_libc.prctl(option, *padded), f"prctl {option}")


def fix_addresses() -> bool:
    """Load the programs that this thread executes at fixed addresses. Return whether the system allows it.

    The order in which ptxas 12.9 visits values depends on their addresses: for sm_100, it chooses different
    registers from one call to the next for the same PTX.
    """
    return bool(_libc.personality(_ADDR_NO_RANDOMIZE) != -1)


def respond_quickly() -> None:
    """Make the scheduler prefer this process when it wakes up, because it runs for short times only.

    A short slice brings its deadline forward. Kernels before 6.12 ignore the setting.
    """
    # struct sched_attr: size, policy, flags, nice, priority, runtime; the rest is 0.
    attributes = struct.pack("IIQiIQ24x", 56, os.SCHED_OTHER, 0, 0, 0, _SHORTEST_SLICE_NANOSECONDS)
    number = {"x86_64": 314, "aarch64": 274}.get(os.uname().machine)
    if number is not None:
        _libc.syscall(number, 0, attributes, 0)


def release_memory() -> None:
    """Return unused heap to the kernel, and stop mapping the code of libraries.

    The code stays in the page cache. A forked child maps the code when it executes it, whether its parent
    maps the code or not.
    """
    _libc.malloc_trim(0)
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, mode, _, _, inode, *_ = line.split()
        if mode == "r-xp" and inode != "0":
            start, end = (int(address, 16) for address in addresses.split("-"))
            _check(_libc.madvise(start, end - start, _MADV_DONTNEED), "madvise")


def populate(start: int, length: int) -> bool:
    """Make pages private to this process, as a write to each would. Return whether the kernel did so."""
    return bool(_libc.madvise(start, length, _MADV_POPULATE_WRITE) == 0)


def drop_capabilities() -> None:
    """Drop every capability, including capabilities that an exec could restore."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break  # The kernel does not know this capability, or the process has none left.
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(header, nothing), "capset")


def flush_standard_output() -> None:
    """Flush the buffers of the C library."""
    _libc.fflush(None)


def wait_for_input(*descriptors: int, seconds: float) -> bool:
    """Wait until one of the descriptors can be read, or has ended. Return False if the time is over.

    `select.select` refuses descriptors above 1,023, which a server with many connections has.
    """
    poller = select.poll()
    for descriptor in descriptors:
        poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


def connected_sockets(kind: int = socket.SOCK_STREAM) -> tuple[socket.socket, socket.socket]:
    """Return two connected blocking sockets.

    A library may have set a default timeout for the sockets of this process. The timeout would make the
    sockets non-blocking, also in a process that receives one of them.
    """
    pair = socket.socketpair(socket.AF_UNIX, kind)
    for each in pair:
        each.settimeout(None)
    return pair
