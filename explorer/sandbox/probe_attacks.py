"""Attacks that must fail: an attack raises OSError or ValueError if the jail withstands it.

Jail side, standard library only. An attack takes some milliseconds at most, and does no harm if it succeeds.
`tests/attacks/` and `tests/sandbox/` have the same attacks and slower attacks.
"""

from __future__ import annotations

import errno
import fcntl
import json
import mmap
import os
import resource
import signal
import socket
import stat
import struct
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from explorer.sandbox import linux, seccomp
from explorer.sandbox.settings import MIB, Limits

Attack = Callable[[], object]

_MACHINE = os.uname().machine
_UNKNOWN_CALL = 4095
_CLONE3 = 435
_X32_GETPID = 0x40000000 + 39
_F_SETSIG = 10
_F_SETPIPE_SZ = 1031
_TIOCSTI = 0x5412
_SIOCSPGRP = 0x8902
_PR_CAPBSET_READ = 23
#: Address families that lead beyond a network namespace, or to rarely used code of the kernel.
_FAMILIES = {"packets": 17, "the host of a virtual machine": 40, "the kernel's ciphers": 38, "Bluetooth": 31}
_OWN_DEVICES = {
    *("console", "core", "fd", "full", "null", "ptmx", "pts", "random", "shm"),
    *("stderr", "stdin", "stdout", "tty", "urandom", "zero"),
}
#: The variables that bubblewrap, Python and the worker set.
_OWN_VARIABLES = {"TRITON_CACHE_DIR", "LC_CTYPE", "PWD"}
#: The targets of a job's descriptors: its pipes, its output, its disassembler, and files that it opened.
_OWN_DESCRIPTORS = ("/dev/null", "pipe:", "socket:", "anon_inode:", "pidfd:", "/tmp/", "/proc/")  # noqa: S108
_SETTINGS = ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger")
_SECRETS = ("/proc/kcore", "/proc/kmsg", "/dev/mem", "/dev/kmsg")
#: The entries of a guard in /proc that reveal or change something.
_PARTS_OF_A_PROCESS = ("mem", "environ", "maps", "fd", "root", "cwd")


@dataclass(frozen=True)
class Jail:
    """The operations and paths that a jail allows on purpose.

    `hidden` are paths that must not exist in the jail. `devices` and `environment` are the names of its
    devices and variables. `listed` are the folders whose files a job must be able to list.
    """

    limits: Limits
    hidden: list[str]
    devices: list[str]
    environment: list[str]
    listed: list[str]
    has_landlock: bool

    @classmethod
    def of(cls, text: str) -> Jail:
        """Parse the JSON of `self_test`."""
        plain = json.loads(text)
        return cls(**{**plain, "limits": Limits(**plain["limits"])})


def all_of(jail: Jail) -> dict[str, Attack]:
    """Return the attacks by the ability of user code if they succeed."""
    return {
        **_on_files(jail),
        **_on_privileges(),
        **_on_the_filter(jail),
        **_on_guards(jail),
        **_on_networks(jail),
        **_on_limits(jail),
        **_on_what_is_inherited(jail),
    }


def _on_files(jail: Jail) -> dict[str, Attack]:
    scratch = Path(tempfile.gettempdir())
    attacks: dict[str, Attack] = {
        "write beside its packages": partial(_create, Path(sys.prefix) / ".probe"),
        "write beside the system's programs": partial(_create, Path("/usr/.probe")),
        "write beside its temporary folder": partial(_create, Path("/.probe")),
        "write to shared memory": partial(_create, Path("/dev/shm/.probe")),  # noqa: S108
        "make a device": lambda: os.mknod(scratch / ".device", stat.S_IFBLK, os.makedev(7, 0)),
        "use a device of the machine": partial(_find_device, set(jail.devices) | _OWN_DEVICES),
    }
    if not jail.limits.runs_own_files:
        attacks["execute a file that it wrote"] = partial(_execute, scratch / ".program")
    if jail.has_landlock:  # The mounts allow the access.
        attacks["list the root folder: Landlock has no effect"] = partial(_read, Path("/"))
    # Landlock would hide a hole of the mounts, but not the existence of a path, nor that it is writable in
    # principle.
    for path in jail.hidden:
        attacks[f"see {path}"] = Path(path).lstat
    for path in ("/", "/usr", sys.prefix, "/dev", "/dev/shm"):  # noqa: S108
        attacks[f"change the mount of {path}"] = partial(_find_writable_mount, path)
    for path in _SECRETS:
        attacks[f"read {path}"] = partial(_read, Path(path))
    for path in _SETTINGS:
        attacks[f"write {path}"] = lambda path=path: os.close(os.open(path, os.O_WRONLY))  # type: ignore[misc]
    return attacks


def _on_privileges() -> dict[str, Attack]:
    return {
        "become root": lambda: os.setuid(0),
        "become root's group": lambda: os.setgid(0),
        "choose its groups": lambda: os.setgroups([0]),
        "keep a capability": _find_capability,
        "gain privileges from a program": partial(_find_in_status, "NoNewPrivs", "0"),
        "do without the filter of system calls": partial(_find_in_status, "Seccomp", "0"),
        "mount": lambda: linux.mount("tmpfs", tempfile.gettempdir(), "tmpfs", 0),
        "make namespaces": lambda: linux.unshare(linux.CLONE_NEWUSER),
        "fork into a namespace": _clone_into_a_namespace,
    }


def _on_the_filter(jail: Jail) -> dict[str, Attack]:
    """Return an attack for each system call that the filter refuses, and for each checked argument."""
    attacks: dict[str, Attack] = {
        f"make the system call {name}": partial(_call_without_arguments, number)
        for name, number in seccomp.refused_calls(_MACHINE, jail.limits).items()
    }
    attacks["make system calls newer than the filter"] = partial(_find_call, _UNKNOWN_CALL)
    attacks["clone with hidden flags"] = partial(_find_call, _CLONE3)
    if _MACHINE == "x86_64":
        attacks["make system calls of another architecture"] = _survive_x32
    attacks["type into a terminal"] = lambda: _refused(lambda: fcntl.ioctl(0, _TIOCSTI, b"x"))
    attacks["send signals by a descriptor"] = partial(_set_signal_of_a_pipe, _F_SETSIG, signal.SIGKILL)
    attacks["choose who gets the signals of a descriptor"] = _choose_owner
    attacks["enlarge the buffer of a pipe"] = partial(_set_signal_of_a_pipe, _F_SETPIPE_SZ, MIB)
    if not jail.limits.shares_memory:
        attacks["hold memory that no process maps"] = lambda: mmap.mmap(-1, mmap.PAGESIZE).close()
        attacks["hold memory of a device"] = _map_zeros
        attacks["lock a range of a file"] = _lock_a_range
    return attacks


def _on_guards(jail: Jail) -> dict[str, Attack]:
    attacks: dict[str, Attack] = {}
    for guard in _guards(jail):
        name = f"process {guard}, which guards it"
        attacks |= {
            f"signal {name}": partial(os.kill, guard, 0),
            f"interrupt {name}": partial(os.kill, guard, signal.SIGINT),
            f"signal by handle {name}": partial(_signal_by_handle, guard),
            f"limit {name}": partial(resource.prlimit, guard, resource.RLIMIT_NOFILE),
            f"slow down {name}": partial(os.setpriority, os.PRIO_PROCESS, guard, 19),
            f"move to another processor {name}": partial(os.sched_setaffinity, guard, {0}),
            f"idle {name}": partial(os.sched_setscheduler, guard, os.SCHED_IDLE, os.sched_param(0)),
        }
        in_proc = _number_in_proc(guard)
        for part in _PARTS_OF_A_PROCESS:
            attacks[f"read {part} of {name}"] = partial(_read, Path(f"/proc/{in_proc}/{part}"))
        for part in ("mem", "oom_score_adj"):
            attacks[f"write {part} of {name}"] = partial(_write, f"/proc/{in_proc}/{part}")
    if jail.limits.owns_processes:
        attacks["see the zygote"] = _see_the_zygote
    return attacks


def _on_networks(jail: Jail) -> dict[str, Attack]:
    attacks: dict[str, Attack] = {
        f"open a socket of {name}": partial(_open_socket, family) for name, family in _FAMILIES.items()
    }
    if jail.limits.opens_sockets:
        attacks["reach a network"] = _reach_a_network
    else:
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
            attacks[f"open a socket of {family.name}"] = partial(_open_socket, family)
    return attacks


def _on_limits(jail: Jail) -> dict[str, Attack]:
    """Return attacks on the limits of a process and of the temporary folder."""
    limits = jail.limits
    kinds = {
        "processor seconds": (resource.RLIMIT_CPU, limits.cpu_seconds + 2),
        "processes": (resource.RLIMIT_NPROC, limits.processes),
        "open files": (resource.RLIMIT_NOFILE, limits.open_files),
        "bytes in a file": (resource.RLIMIT_FSIZE, limits.file_bytes),
        "locked bytes": (resource.RLIMIT_MEMLOCK, limits.locked_bytes),
    }
    attacks: dict[str, Attack] = {
        "start too many processes": partial(_fork_many, limits.processes),
        "open too many files": partial(_open_many, limits.open_files),
        "fill the disk": partial(_write_bytes, limits.scratch_bytes),
        "create too many files": partial(_create_many, limits.scratch_files),
        "write too large a file": partial(_enlarge, limits.file_bytes),
    }
    for name, (kind, most) in kinds.items():
        attacks[f"have more {name}"] = partial(_raise_limit, kind, most)
    if limits.limits_address_space:
        attacks["reserve too much memory"] = lambda: mmap.mmap(
            -1, limits.memory_bytes + MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        )
    return attacks


def _on_what_is_inherited(jail: Jail) -> dict[str, Attack]:
    return {
        "read variables of the server": partial(_find_variable, set(jail.environment) | _OWN_VARIABLES),
        "use a descriptor of the server": _find_descriptor,
    }


# --- the attacks --------------------------------------------------------------------------------


def _read(path: Path) -> None:
    if path.is_dir():
        list(path.iterdir())
    else:
        with path.open("rb") as file:
            file.read(1)


def _write(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY))


def _create(path: Path) -> None:
    path.touch()
    path.unlink()


def _find_writable_mount(path: str) -> None:
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        raise PermissionError(path)


def _execute(path: Path) -> None:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o700)
    os.posix_spawn(path, [str(path)], {})


def _find_device(known: set[str]) -> None:
    for folder, _, names in os.walk("/dev"):
        for name in names:
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and not {name, str(path)} & known:
                return
    raise FileNotFoundError("no other device")


def _find_capability() -> None:
    if all(_status(name).strip("0") == "" for name in ("CapPrm", "CapEff", "CapInh", "CapAmb", "CapBnd")):
        raise PermissionError("no capability")


def _find_in_status(name: str, weak: str) -> None:
    if _status(name) != weak:
        raise PermissionError(name)


def _status(name: str) -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split(":")[1].strip() for line in lines if line.startswith(f"{name}:"))


def _clone_into_a_namespace() -> None:
    flags = linux.CLONE_NEWUSER | signal.SIGCHLD
    number = {"x86_64": 56, "aarch64": 220}[_MACHINE]
    if linux.system_call(number, flags, 0, 0, 0, 0) == 0:
        os._exit(0)


def _refused(call: Callable[[], object]) -> None:
    """Raise the exception of a call, unless something other than the filter refuses the call."""
    try:
        call()
    except OSError as error:
        if error.errno == errno.EPERM:
            raise


def _call_without_arguments(number: int) -> None:
    _refused(lambda: linux.system_call(number, 0, 0, 0, 0, 0, 0))


def _find_call(number: int) -> None:
    try:
        linux.system_call(number, 0, 0)
    except OSError as error:
        if error.errno == errno.ENOSYS:
            raise


def _survive_x32() -> None:
    child = os.fork()
    if child == 0:
        try:
            linux.system_call(_X32_GETPID)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSYS:
        raise PermissionError("the filter ends the process")


def _set_signal_of_a_pipe(command: int, value: int) -> None:
    ends = os.pipe()
    try:
        fcntl.fcntl(ends[0], command, value)
    finally:
        os.close(ends[0])
        os.close(ends[1])


def _choose_owner() -> None:
    first, second = socket.socketpair()
    with first, second:
        fcntl.ioctl(first, _SIOCSPGRP, struct.pack("i", os.getpid()))


def _map_zeros() -> None:
    with open("/dev/zero", "r+b", buffering=0) as file:  # noqa: PTH123  unbuffered, as mmap needs it
        mmap.mmap(file.fileno(), mmap.PAGESIZE).close()


def _lock_a_range() -> None:
    with tempfile.TemporaryFile() as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)


def _guards(jail: Jail) -> Iterable[int]:
    """Return the warden and, where they are visible, its keeper and the zygote."""
    warden = os.getppid()
    if jail.limits.owns_processes:
        return [warden]
    return [warden, *_ancestors(warden, 2)]


def _ancestors(process: int, count: int) -> Iterator[int]:
    for _ in range(count):
        process = _parent(process)
        yield process


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _number_in_proc(guard: int) -> int:
    """Return the number of a guard in /proc, which may belong to another namespace."""
    if guard != os.getppid():
        return guard
    return _parent(int(Path("/proc/self").readlink().name))


def _signal_by_handle(guard: int) -> None:
    handle = os.pidfd_open(guard)
    try:
        signal.pidfd_send_signal(handle, 0)
    finally:
        os.close(handle)


def _see_the_zygote() -> None:
    if os.getppid() == 1:
        raise ProcessLookupError("the only parent is the namespace's first process")


def _open_socket(family: int) -> None:
    socket.socket(family, socket.SOCK_STREAM if family != 38 else socket.SOCK_SEQPACKET).close()


def _reach_a_network() -> None:
    if all(name == "lo" for _, name in socket.if_nameindex()):
        raise OSError("no network but the job's own")


def _raise_limit(kind: int, most: int) -> None:
    soft, hard = resource.getrlimit(kind)
    if resource.RLIM_INFINITY in (soft, hard) or hard > most:
        return
    resource.setrlimit(kind, (soft, hard + 1))


def _fork_many(most: int) -> None:
    """Fork more processes than allowed. They wait for the end of a pipe."""
    wait, hold = os.pipe()
    children = []
    try:
        for _ in range(most + 1):
            child = os.fork()
            if child == 0:
                os.close(hold)
                os.read(wait, 1)
                os._exit(0)
            children.append(child)
    finally:
        os.close(hold)
        os.close(wait)
        for child in children:
            os.waitpid(child, 0)


def _open_many(most: int) -> None:
    descriptors: list[int] = []
    try:
        while len(descriptors) <= most:
            descriptors.append(os.open("/dev/null", os.O_RDONLY))
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _write_bytes(most: int) -> None:
    """Write more than allowed to files, each as small as allowed."""
    with tempfile.TemporaryDirectory() as folder:
        block = bytes(MIB)
        for number in range(most // MIB + 1):
            (Path(folder) / str(number)).write_bytes(block)


def _create_many(most: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(most + 1):
            (Path(folder) / str(number)).touch()


def _enlarge(most: int) -> None:
    with tempfile.TemporaryFile() as file:
        file.truncate(most + 1)


def _find_variable(known: set[str]) -> None:
    if set(os.environ) <= known:
        raise ValueError("no other variable")


def _find_descriptor() -> None:
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            leads_to = str(descriptor.readlink())
        except FileNotFoundError:  # It was the descriptor of the list.
            continue
        if not leads_to.startswith(_OWN_DESCRIPTORS):
            return
    raise FileNotFoundError("no other descriptor")
