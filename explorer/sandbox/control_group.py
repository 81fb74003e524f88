"""The kernel's own memory limit for a jail: a control group (cgroup v2). Web side.

It applies where the server's control group is delegated to the server, as by `Delegate=yes` in a systemd unit
or by `systemd-run --user --scope -p Delegate=yes`, or is the root of the hierarchy. It counts all memory of a
job, including kernel memory. The limit is above the limit of the job's keeper, which normally stops the job
first and reports the reason.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import itertools
import logging
import os
import threading
from pathlib import Path

_log = logging.getLogger(__name__)

_SLACK = 1.05
#: A group with limits for its children cannot contain processes: the server moves to this child.
_SERVER = "server"
_lock = threading.Lock()
_numbers = itertools.count()


class ControlGroup:
    """The group of one jail."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def create(self, memory_bytes: int) -> None:
        self._folder.mkdir()
        (self._folder / "memory.max").write_text(str(int(memory_bytes * _SLACK)))
        with contextlib.suppress(OSError):  # A kernel without swap accounting has no such file.
            (self._folder / "memory.swap.max").write_text("0")

    def add(self, process: int) -> None:
        """Move a process to the group. Memory that the process holds already stays with its former group."""
        (self._folder / "cgroup.procs").write_text(str(process))

    def remove(self) -> None:
        """Remove the group when its processes have ended."""
        with contextlib.suppress(OSError):  # A process may still be ending. An empty group holds nothing.
            self._folder.rmdir()


def are_available() -> bool:
    """Return whether jails get control groups with memory limits on this machine."""
    with _lock:
        return _delegated_group() is not None


def enclose(process: int, memory_bytes: int) -> ControlGroup | None:
    """Move a process and its descendants, which must not fork meanwhile, to a group with a memory limit.

    Return None if there is no delegated group.
    """
    with _lock:
        parent = _delegated_group()
    if parent is None:
        return None
    group = ControlGroup(parent / f"jail-{os.getpid()}-{next(_numbers)}")
    try:
        group.create(memory_bytes)
        processes = [process]
        for member in processes:
            processes += map(int, Path(f"/proc/{member}/task/{member}/children").read_text().split())
            group.add(member)
    except OSError as error:
        _log.warning("A jail has no control group, only the limit of its keeper: %s", error)
        group.remove()
        return None
    return group


@functools.cache
def _delegated_group() -> Path | None:
    """Return the group in which this process may create groups with a memory limit, or None."""
    own = group_of("self")
    if own is None:
        return None
    try:
        group = next(group for group in (own, own.parent) if _is_delegated(group))
        if "memory" not in (group / "cgroup.controllers").read_text().split():
            return None
        try:
            (group / "cgroup.subtree_control").write_text("+memory")
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            server = group / _SERVER
            server.mkdir(exist_ok=True)
            for process in (group / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):  # The process has ended meanwhile.
                    (server / "cgroup.procs").write_text(process)
            (group / "cgroup.subtree_control").write_text("+memory")
    except (OSError, StopIteration):
        return None
    _remove_left_groups(group)
    return group


def _remove_left_groups(parent: Path) -> None:
    """Remove the groups of servers that were killed. Groups with processes stay."""
    for group in parent.glob("jail-*"):
        if not Path(f"/proc/{group.name.split('-')[1]}").exists():
            ControlGroup(group).remove()


def _is_delegated(group: Path) -> bool:
    if (group / "cgroup.procs").exists() and not (group / "cgroup.type").exists():
        return os.access(group / "cgroup.procs", os.W_OK)  # the root of the hierarchy
    for name in ("user.delegate", "trusted.delegate"):
        with contextlib.suppress(OSError):
            return os.getxattr(group, name) == b"1"
    return False


def group_of(process: int | str) -> Path | None:
    """Return the control group of a process, or None if this machine has no cgroup v2."""
    mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    mount = next((line[4] for line in mounts if line[line.index("-") + 1] == "cgroup2"), None)
    groups = Path(f"/proc/{process}/cgroup").read_text().splitlines()
    path = next((line.removeprefix("0::/") for line in groups if line.startswith("0::/")), None)
    return None if mount is None or path is None else Path(mount) / path
