"""Landlock: a second wall inside a jail, by kernel rules for one process and its children.

The rules repeat what the mounts of the jail allow. Where a mount, /proc or a namespace has a hole, the rules
still hold: a job can read and execute programs and packages, and write to its temporary folder only. It can
neither trace nor, from ABI 6 on, signal processes outside the job, nor reach abstract sockets of other
processes. From ABI 4 on, a job without sockets can use no TCP port. Landlock needs no privileges, and Linux
5.19
or newer. Kernels without it change nothing.

Source: the kernel's Documentation/userspace-api/landlock.rst and include/uapi/linux/landlock.h, Linux 6.15.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from dataclasses import dataclass, field

from explorer.sandbox import linux
from explorer.sandbox.settings import Limits

#: The system call numbers, which are equal on all architectures.
CREATE_RULESET = 444
ADD_RULE = 445
_RESTRICT_SELF = 446
_GET_VERSION = 1
_RULE_PATH_BENEATH = 1
#: With ABI 1, a job could not rename a file to another folder, as Triton's cache does.
_OLDEST_ABI = 2

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_FOLDER = 1 << 3
_MAKE_CHARACTER_DEVICE = 1 << 6
_MAKE_BLOCK_DEVICE = 1 << 11
_TRUNCATE = 1 << 14
_IOCTL_DEVICE = 1 << 15
#: The rights that can be allowed for a path that is not a folder.
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
#: The number of rights on files in each ABI.
_FILE_RIGHTS = {2: 14, 3: 15, 4: 15}
_NEWEST_FILE_RIGHTS = 16
_TCP_BIND_AND_CONNECT = 3
_TCP_SINCE = 4
_ABSTRACT_SOCKETS_AND_SIGNALS = 3
_SCOPES_SINCE = 6

_READ = _READ_FILE | _READ_FOLDER
_CHANGE = _WRITE_FILE | _TRUNCATE


@dataclass(frozen=True)
class Paths:
    """The paths that a job may use, with everything below a folder. Paths that do not exist are left out.

    `programs` are read and executed. In `listed`, which contain them, the names of files are read. In
    `devices` and /proc, existing files are read and written. `scratch` is the job's own folder.
    """

    programs: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    devices: str = "/dev"
    processes: str = "/proc"
    scratch: str = "/tmp"  # noqa: S108  the job's own


def abi() -> int:
    """Return the version of Landlock's interface that is used on this machine, or 0 for none."""
    try:
        version = linux.system_call(CREATE_RULESET, 0, 0, _GET_VERSION)
    except OSError:  # The kernel lacks Landlock, it is disabled, or a filter of the container refuses it.
        return 0
    return version if version >= _OLDEST_ABI else 0


def create(paths: Paths, limits: Limits) -> int | None:
    """Create the rules of a job. Return their descriptor, or None where the kernel has no Landlock."""
    version = abi()
    if not version:
        return None
    all_rights = (1 << _FILE_RIGHTS.get(version, _NEWEST_FILE_RIGHTS)) - 1
    tcp = _TCP_BIND_AND_CONNECT if version >= _TCP_SINCE and not limits.opens_sockets else 0
    scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= _SCOPES_SINCE else 0
    # Older kernels know a shorter structure, and accept a longer one if its rest is 0.
    attributes = ctypes.create_string_buffer(struct.pack("QQQ", all_rights, tcp, scopes), 24)
    rules = linux.system_call(CREATE_RULESET, attributes, 24, 0)
    own = all_rights & ~(_MAKE_CHARACTER_DEVICE | _MAKE_BLOCK_DEVICE | _IOCTL_DEVICE)
    if not limits.runs_own_files:
        own &= ~_EXECUTE
    allowed = dict.fromkeys(paths.listed, _READ_FOLDER)
    allowed |= dict.fromkeys(paths.programs, _READ | _EXECUTE)
    allowed |= {
        paths.processes: _READ | _CHANGE,
        paths.devices: _READ | _CHANGE | _IOCTL_DEVICE,
        paths.scratch: own,
    }
    for path, rights in allowed.items():
        _allow(rules, path, rights & all_rights)
    return rules


def obey(rules: int) -> None:
    """Apply the rules permanently to this thread and its children. Requires no_new_privs."""
    linux.system_call(_RESTRICT_SELF, rules, 0)
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH)
    except OSError:  # The path does not exist in this jail.
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_A_FILE
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, descriptor), 12)
        linux.system_call(ADD_RULE, rules, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)
