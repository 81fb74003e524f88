"""The attack of the sandbox on itself at start: an entry point like the pipeline's. Standard library only.

`perform` tries operations that must fail and operations that must work, and emits a diagnostic for each
unexpected outcome. The source is a list of paths, one per line, that must not exist. With the option
`opens_sockets`, no other host may be reachable by a socket. Without `owns_processes`, other processes of the
jail must be out of reach. Without `shares_memory`, memory that belongs to no file cannot be shared.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from explorer.model import Diagnostic, Done, Event, Request
from explorer.sandbox import linux


def warm_up() -> None:
    """Do nothing: the probe must start fast."""


def perform(request: Request, emit: Callable[[Event], None]) -> None:
    """Attack the jail, and emit a diagnostic for each attack that succeeded."""
    holes = []
    attacks = _attacks(request.source.splitlines())
    if request.options.get("opens_sockets"):
        attacks["reach a network"] = _reach_a_network
    else:
        attacks["open a socket"] = lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    if request.options.get("owns_processes"):
        attacks["see the zygote"] = _see_the_zygote
    else:
        attacks["write into the zygote"] = _write_into_the_zygote
    if not request.options.get("shares_memory"):
        attacks["hold memory that no process maps"] = lambda: mmap.mmap(-1, mmap.PAGESIZE).close()
    for name, attack in attacks.items():
        try:
            attack()
        except (OSError, ValueError):
            continue
        holes.append(f"user code can {name}")
    for name, need in _NEEDS.items():
        try:
            need()
        except (OSError, subprocess.SubprocessError) as error:
            holes.append(f"user code cannot {name}: {error}")
    for hole in holes:
        emit(Diagnostic("error", hole))
    if request.options.get("owns_processes") and not _has_its_own_proc():
        emit(Diagnostic("warning", "the kernel refuses the job a /proc of its own: it sees that of the jail"))
    emit(Done("failed" if holes else "complete", 0))


def _attacks(hidden: list[str]) -> dict[str, Callable[[], object]]:
    attacks: dict[str, Callable[[], object]] = {
        "make namespaces": lambda: linux.unshare(linux.CLONE_NEWUSER),
        "mount": lambda: linux.mount("tmpfs", tempfile.gettempdir(), "tmpfs", 0),
        "become root": lambda: os.setuid(0),
        "write beside its packages": lambda: (Path(sys.prefix) / ".probe").touch(),
        "write beside its temporary folder": lambda: Path("/.probe").touch(),
        "interrupt its warden": lambda: os.kill(os.getppid(), signal.SIGINT),
        "limit its warden": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE),
        "slow its warden down": lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
        "write into its warden": lambda: os.close(os.open(f"/proc/{_parent_in_proc()}/mem", os.O_RDWR)),
        "take the machine's asynchronous requests": _take_asynchronous_requests,
    }
    for path in hidden:
        attacks[f"read {path}"] = functools.partial(_read, Path(path))
    return attacks


def _read(path: Path) -> None:
    if path.is_dir():
        list(path.iterdir())
    else:
        path.open().close()


def _parent_in_proc() -> int:
    """Return the number of the warden in /proc, which may be that of another namespace."""
    return _parent(int(Path("/proc/self").readlink().name))


def _has_its_own_proc() -> bool:
    return Path("/proc/self").readlink().name == str(os.getpid())


def _take_asynchronous_requests() -> None:
    number = {"x86_64": 206, "aarch64": 0}[os.uname().machine]
    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall(number, 1, ctypes.byref(ctypes.c_ulong())) != 0:
        raise OSError(ctypes.get_errno(), "io_setup")


def _reach_a_network() -> None:
    if all(name == "lo" for _, name in socket.if_nameindex()):
        raise OSError("no network but the job's own")


def _see_the_zygote() -> None:
    if os.getppid() == 1:
        raise ProcessLookupError("the only parent is the namespace's first process")


def _write_into_the_zygote() -> None:
    """Try to write into the zygote.

    The warden and its parent started after the zygote and belong to the job.
    """
    zygote = _parent(_parent(os.getppid()))
    os.close(os.open(f"/proc/{zygote}/mem", os.O_RDWR))


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


_NEEDS: dict[str, Callable[[], object]] = {
    "start programs": lambda: subprocess.run(["/bin/true"], check=True, timeout=10),
    "write temporary files": lambda: tempfile.TemporaryFile().close(),
}
