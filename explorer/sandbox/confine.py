"""The steps that confine one job. Jail side, before any user code runs in the process.

The steps: separate user, process and mount namespaces, a private /tmp, resource limits, no capabilities, no
new privileges, a system call filter. Without a jail around the process, only the last four steps apply.
"""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

from explorer.sandbox import linux, seccomp
from explorer.sandbox.settings import Limits

#: User code runs as the user `nobody`.
NOBODY = 65534
_UNLIMITED = resource.RLIM_INFINITY
_PRIVATE_FLAGS = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC

#: Network and IPC namespaces are not in the list. The jail has no network and runs one job at a time, and the
#: filter refuses sockets, SysV IPC and message queues. A network namespace for each job would cost tens of
#: milliseconds, because the kernel is slow to remove namespaces.
_NAMESPACES = linux.CLONE_NEWUSER | linux.CLONE_NEWPID | linux.CLONE_NEWNS


def become_nobody() -> None:
    """Drop root permanently. /proc/self stays writable, for creating namespaces later."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    linux.drop_capabilities()
    linux.prctl(linux.PR_SET_DUMPABLE, 1)


def keep_out() -> None:
    """Prevent other processes of this user from reading or writing the memory of this process."""
    linux.prctl(linux.PR_SET_DUMPABLE, 0)


def let_in() -> None:
    """Undo `keep_out`, which children inherit. User code may inspect its own processes."""
    linux.prctl(linux.PR_SET_DUMPABLE, 1)


def mount_proc() -> None:
    """Mount the /proc of this process namespace.

    In a user namespace, the kernel refuses this if other mounts cover parts of all other instances of /proc.
    """
    linux.mount("proc", "/proc", "proc", _PRIVATE_FLAGS)


def enter_namespaces(limits: Limits) -> None:
    """Leave the zygote's namespaces. The next fork creates the first process of the new namespaces."""
    user, group = os.getuid(), os.getgid()
    let_in()  # The maps below are written to /proc/self, which `keep_out` has closed.
    linux.unshare(_NAMESPACES if limits.owns_processes else _NAMESPACES & ~linux.CLONE_NEWPID)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def mount_private_folder(limits: Limits, kept_folders: list[str]) -> None:
    """Mount an empty file system of bounded size over /tmp.

    `kept_folders` below /tmp stay readable, because a project may be located there.
    """
    kept = {folder: os.open(folder, os.O_PATH) for folder in kept_folders}
    linux.mount("none", "/", "", linux.MS_REC | linux.MS_PRIVATE)
    flags = _PRIVATE_FLAGS & ~linux.MS_NOEXEC if limits.runs_own_files else _PRIVATE_FLAGS
    size = f"size={limits.scratch_bytes},nr_inodes={limits.scratch_files},mode=700"
    linux.mount("tmpfs", "/tmp", "tmpfs", flags, size)  # noqa: S108  the jail's own
    for folder, descriptor in kept.items():
        Path(folder).mkdir(parents=True)
        linux.mount(f"/proc/self/fd/{descriptor}", folder, "", linux.MS_BIND | linux.MS_REC)
        os.close(descriptor)


def limit_resources(limits: Limits, *, own_namespace: bool) -> None:
    """Set the limits that the kernel enforces for each process. Make this process the first OOM victim."""
    page_bytes = resource.getpagesize()
    mapped_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * page_bytes
    address_space = mapped_bytes + limits.memory_bytes if limits.limits_address_space else _UNLIMITED
    processes = limits.processes
    if not own_namespace:
        processes += _tasks_of_user(os.getuid())
    for kind, soft, hard in (
        (resource.RLIMIT_AS, address_space, None),
        (resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 2),
        (resource.RLIMIT_NPROC, processes, None),
        (resource.RLIMIT_NOFILE, limits.open_files, None),
        (resource.RLIMIT_FSIZE, limits.file_bytes, None),
        # With 0, a core_pattern that starts with a pipe would still start its program. With 1 it does not.
        (resource.RLIMIT_CORE, 1, None),
        (resource.RLIMIT_MEMLOCK, limits.locked_bytes, None),
    ):
        _lower(kind, soft, soft if hard is None else hard)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("900")


def give_up_privileges(limits: Limits, protected: set[int]) -> None:
    """Drop the capabilities of the user namespace, and install the system call filter.

    The filter refuses signals and limits for the processes `protected`.
    """
    linux.drop_capabilities()
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.install(limits, protected)


def _lower(kind: int, soft: int, hard: int) -> None:
    _, present = resource.getrlimit(kind)
    if soft == _UNLIMITED:
        return
    if present != resource.RLIM_INFINITY:
        soft, hard = min(soft, present), min(hard, present)
    resource.setrlimit(kind, (soft, hard))


def _tasks_of_user(user: int) -> int:
    """Count the threads of `user`. Without a user namespace, the process limit applies to all of them."""
    count = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == user:
                    count += sum(1 for _ in (entry / "task").iterdir())
    return count
