"""The few system calls of Linux that Python has no function for. Jail side."""

from __future__ import annotations

import ctypes
import os

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

_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mount.argtypes = [
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_ulong,
    ctypes.c_char_p,
]
_libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4


def _check(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` name for new ones."""
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount a file system in the own mount namespace."""
    arguments = [text.encode() for text in (source, target, kind)]
    _check(_libc.mount(*arguments, flags, data.encode()), f"mount {target}")


def prctl(option: int, *values: int) -> None:
    """Change something about the calling process."""
    padded = (*values, 0, 0, 0, 0)[:4]
    _check(_libc.prctl(option, *padded), f"prctl {option}")


def drop_capabilities() -> None:
    """Give up every capability, also those that an exec could bring back."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break  # beyond the last that this kernel knows, or nothing left to drop with
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(header, nothing), "capset")


def flush_standard_output() -> None:
    """Write out what C code of this process has buffered."""
    _libc.fflush(None)
