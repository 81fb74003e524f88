"""What locks one job in, step by step. Jail side, before any user code runs in the process.

In full: own user, process and mount namespaces, a private /tmp, resource limits, no
capabilities, no new privileges, a system call filter. Without a jail around it only the last four.
"""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

from explorer.sandbox import linux, seccomp
from explorer.sandbox.settings import Limits

#: Whoever runs user code is nobody.
NOBODY = 65534
_UNLIMITED = resource.RLIM_INFINITY

#: The jail around the zygote has no network and one job at a time, and the filter refuses sockets, SysV
#: ipc and message queues: namespaces of a job's own for those would add nothing but the tens of
#: milliseconds that the kernel takes to tear a network namespace down.
_NAMESPACES = linux.CLONE_NEWUSER | linux.CLONE_NEWPID | linux.CLONE_NEWNS


def become_nobody() -> None:
    """Give up root for good, keeping /proc/self writable for the namespaces to come."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    linux.drop_capabilities()
    linux.prctl(linux.PR_SET_DUMPABLE, 1)


def keep_out() -> None:
    """Let no other process of this user look into this one, or write into it."""
    linux.prctl(linux.PR_SET_DUMPABLE, 0)


def enter_namespaces(limits: Limits) -> None:
    """Leave the zygote's namespaces; the next fork makes the first process of the new ones."""
    user, group = os.getuid(), os.getgid()
    linux.prctl(linux.PR_SET_DUMPABLE, 1)  # the zygote may have given up its /proc/self, see `keep_out`
    linux.unshare(_NAMESPACES if limits.owns_processes else _NAMESPACES & ~linux.CLONE_NEWPID)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def mount_private_folder(limits: Limits, kept_folders: list[str]) -> None:
    """Cover /tmp with an empty file system of bounded size, and /proc with the own processes if allowed.

    `kept_folders` below /tmp stay readable: a project may live there.
    """
    kept = {folder: os.open(folder, os.O_PATH) for folder in kept_folders}
    linux.mount("none", "/", "", linux.MS_REC | linux.MS_PRIVATE)
    flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    scratch_flags = flags & ~linux.MS_NOEXEC if limits.runs_own_files else flags
    size = f"size={limits.scratch_bytes},nr_inodes={limits.scratch_files},mode=700"
    linux.mount("tmpfs", "/tmp", "tmpfs", scratch_flags, size)  # noqa: S108
    for folder, descriptor in kept.items():
        Path(folder).mkdir(parents=True)
        linux.mount(f"/proc/self/fd/{descriptor}", folder, "", linux.MS_BIND | linux.MS_REC)
        os.close(descriptor)
    with contextlib.suppress(OSError):  # a kernel that finds the outer /proc covered in part refuses
        linux.mount("proc", "/proc", "proc", flags)


def limit_resources(limits: Limits, *, own_namespace: bool) -> None:
    """Set what the kernel enforces on each process, and be the first to go when memory is out."""
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
        # 1 keeps also a core_pattern that pipes from starting its program; 0 would not.
        (resource.RLIMIT_CORE, 1, None),
        (resource.RLIMIT_MEMLOCK, limits.locked_bytes, None),
    ):
        _lower(kind, soft, soft if hard is None else hard)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("900")


def give_up_privileges(limits: Limits) -> None:
    """Drop what capabilities the own user namespace gave, and filter system calls from here on."""
    linux.drop_capabilities()
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.install(opens_sockets=limits.opens_sockets)


def _lower(kind: int, soft: int, hard: int) -> None:
    _, present = resource.getrlimit(kind)
    if soft == _UNLIMITED:
        return
    if present != resource.RLIM_INFINITY:
        soft, hard = min(soft, present), min(hard, present)
    resource.setrlimit(kind, (soft, hard))


def _tasks_of_user(user: int) -> int:
    """Count the threads of `user`: without an own user namespace the process limit counts them all."""
    count = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == user:
                    count += sum(1 for _ in (entry / "task").iterdir())
    return count
