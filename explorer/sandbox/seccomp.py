"""The system call filter of a job: the kernel refuses calls that a compiler never needs. Jail side.

System calls for privileges, other processes, the network and rarely used kernel features fail with EPERM. So
do calls that signal the processes that guard the job or change their limits, and calls that keep much memory
in the kernel, where `memory` cannot count it. System calls newer than this table fail with ENOSYS, so that
libc falls back; so does clone3, because a filter cannot read its flags. System calls of a foreign
architecture kill the process.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import socket
from collections.abc import Iterable

from explorer.sandbox import linux
from explorer.sandbox.settings import Limits

_LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_GREATER = 0x25
_JUMP_GREATER_EQUAL = 0x35
_JUMP_ANY_BIT = 0x45  # BPF_JSET
_AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
_RETURN = 0x06

_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000
_ALLOW = 0x7FFF0000

# Offsets in struct seccomp_data.
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16

_SECCOMP_MODE_FILTER = 2
_X32_BIT = 0x40000000
_NEWEST_KNOWN = 449
_CLONE3 = 435
_NAMESPACE_FLAGS = (
    linux.CLONE_NEWNS
    | linux.CLONE_NEWCGROUP
    | linux.CLONE_NEWUTS
    | linux.CLONE_NEWIPC
    | linux.CLONE_NEWUSER
    | linux.CLONE_NEWPID
    | linux.CLONE_NEWNET
)
#: TIOCSTI and TIOCLINUX write into a terminal. FIOSETOWN and SIOCSPGRP are F_SETOWN for sockets.
_REFUSED_IOCTLS = (0x5412, 0x541C, 0x8901, 0x8902)
#: F_SETOWN, F_SETSIG and F_SETOWN_EX make the kernel send any signal to any process of the user. F_SETPIPE_SZ
#: enlarges the buffer of a pipe to 1 MiB.
_REFUSED_FCNTLS = (8, 10, 15, 1031)
#: F_SETLK, F_SETLKW, F_OFD_SETLK and F_OFD_SETLKW: no limit counts the ranges of files that are locked.
_RECORD_LOCKS = (6, 7, 37, 38)
_PRIO_PROCESS = 0
_IOPRIO_WHO_PROCESS = 1

#: System call numbers that are equal on all architectures.
_COMMON = {
    "pidfd_send_signal": 424,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "memfd_secret": 447,
    # The kernel can store any number of rules. A job obeys the rules that were made before.
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
}
_TABLES: dict[str, tuple[int, dict[str, int], dict[str, int]]] = {
    # machine: (AUDIT_ARCH, calls whose arguments are checked, refused calls)
    "x86_64": (
        0xC000003E,
        {
            "clone": 56, "ioctl": 16, "fcntl": 72, "mmap": 9, "kill": 62, "tkill": 200, "tgkill": 234,
            "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "prlimit64": 302, "sched_setparam": 142,
            "sched_setscheduler": 144, "sched_setaffinity": 203, "setpriority": 141, "ioprio_set": 251,
            "socketpair": 53,
        },
        {
            "sched_setattr": 314, "io_setup": 206, "splice": 275, "tee": 276, "vmsplice": 278,
            "inotify_init": 253, "inotify_init1": 294,
            "socket": 41, "connect": 42, "accept": 43, "accept4": 288, "bind": 49, "listen": 50,
            "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
            "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "swapon": 167, "swapoff": 168,
            "unshare": 272, "setns": 308, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
            "add_key": 248, "request_key": 249, "keyctl": 250, "memfd_create": 319,
            "shmget": 29, "shmat": 30, "shmctl": 31, "shmdt": 67, "semget": 64, "semop": 65, "semctl": 66,
            "semtimedop": 220, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71,
            "mq_open": 240, "mq_unlink": 241, "init_module": 175, "delete_module": 176, "finit_module": 313,
            "kexec_load": 246, "kexec_file_load": 320, "reboot": 169, "acct": 163, "quotactl": 179,
            "name_to_handle_at": 303, "open_by_handle_at": 304, "fanotify_init": 300, "fanotify_mark": 301,
            "syslog": 103, "settimeofday": 164, "clock_settime": 227, "clock_adjtime": 305, "adjtimex": 159,
            "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "personality": 135,
            "modify_ldt": 154, "lookup_dcookie": 212, "vhangup": 153, "uselib": 134, "ustat": 136,
            "sysfs": 139, "_sysctl": 156, "nfsservctl": 180,
            "mbind": 237, "set_mempolicy": 238, "migrate_pages": 256, "move_pages": 279,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "clone": 220, "ioctl": 29, "fcntl": 25, "mmap": 222, "kill": 129, "tkill": 130, "tgkill": 131,
            "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240, "prlimit64": 261, "sched_setparam": 118,
            "sched_setscheduler": 119, "sched_setaffinity": 122, "setpriority": 140, "ioprio_set": 30,
            "socketpair": 199,
        },
        {
            "sched_setattr": 274, "io_setup": 0, "inotify_init1": 26, "splice": 76, "tee": 77, "vmsplice": 75,
            "socket": 198, "connect": 203, "accept": 202, "accept4": 242, "bind": 200, "listen": 201,
            "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
            "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "swapon": 224, "swapoff": 225,
            "unshare": 97, "setns": 268, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282,
            "add_key": 217, "request_key": 218, "keyctl": 219, "memfd_create": 279,
            "shmget": 194, "shmat": 196, "shmctl": 195, "shmdt": 197, "semget": 190, "semop": 193,
            "semctl": 191, "semtimedop": 192, "msgget": 186, "msgsnd": 189, "msgrcv": 188, "msgctl": 187,
            "mq_open": 180, "mq_unlink": 181, "init_module": 105, "delete_module": 106, "finit_module": 273,
            "kexec_load": 104, "kexec_file_load": 294, "reboot": 142, "acct": 89, "quotactl": 60,
            "name_to_handle_at": 264, "open_by_handle_at": 265, "fanotify_init": 262, "fanotify_mark": 263,
            "syslog": 116, "settimeofday": 170, "clock_settime": 112, "clock_adjtime": 266, "adjtimex": 171,
            "sethostname": 161, "setdomainname": 162, "personality": 92, "lookup_dcookie": 18, "vhangup": 58,
            "nfsservctl": 42, "mbind": 235, "set_mempolicy": 237, "migrate_pages": 238, "move_pages": 239,
        },
    ),
}  # fmt: skip
#: CUDA needs these calls to start. The job's network contains nothing to connect to.
_SOCKETS = {"socket", "connect", "accept", "accept4", "bind", "listen"}
#: The socket families that stay in the network of the job. Sockets of a virtual machine's host (AF_VSOCK),
#: for example, belong to no network namespace.
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK)
#: The events of these watches wait in memory that no limit counts.
_FILE_WATCHES = {"inotify_init", "inotify_init1"}
#: The system calls whose first argument is a process or thread that they signal or limit.
_ON_A_PROCESS = (
    *("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"),
    *("prlimit64", "sched_setparam", "sched_setscheduler", "sched_setaffinity"),
)

_Line = tuple[int, int, int, int]
_REFUSE: _Line = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
_ALLOW_IT: _Line = (_RETURN, 0, 0, _ALLOW)


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def refused_calls(machine: str, limits: Limits) -> dict[str, int]:
    """Return the name and number of each system call that fails with EPERM on `machine`."""
    allowed: set[str] = set()
    if limits.opens_sockets:
        allowed |= _SOCKETS
    if limits.shares_memory:  # The libraries of CUDA may watch files.
        allowed |= _FILE_WATCHES
    refused = {**_TABLES[machine][2], **_COMMON}
    return {name: number for name, number in refused.items() if name not in allowed}


def assemble(machine: str, limits: Limits, protected: set[int]) -> list[_Line]:
    """Assemble the filter for `machine` (of `os.uname`) as (code, skip if true, skip if false, operand).

    `protected` are the processes that a job must not signal or limit; negative numbers are process groups.

    Raises:
        NotImplementedError: there is no table for this machine.
    """
    if machine not in _TABLES:
        raise NotImplementedError(f"no system call table for {machine}")
    architecture, checked, refused = _TABLES[machine]
    numbers = {**refused, **checked}
    unknown = (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)
    kill = (_RETURN, 0, 0, _KILL_PROCESS)
    program = [
        (_LOAD_WORD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        kill,
        (_LOAD_WORD, 0, 0, _NUMBER),
        (_JUMP_GREATER_EQUAL, 0, 1, _X32_BIT),
        kill,
        (_JUMP_GREATER, 1, 0, _NEWEST_KNOWN),
        (_JUMP_EQUAL, 0, 1, _CLONE3),
        unknown,
    ]
    for number in sorted(refused_calls(machine, limits).values()):
        program += [(_JUMP_EQUAL, 0, 1, number), _REFUSE]
    for name, checks in _argument_checks(limits, protected).items():
        program += [(_JUMP_EQUAL, 0, len(checks) + 1, numbers[name]), *checks, _ALLOW_IT]
    return [*program, _ALLOW_IT]


def _argument_checks(limits: Limits, protected: set[int]) -> dict[str, list[_Line]]:
    """Return the instructions that check the arguments of system calls, by the name of the call."""
    checks = {name: _refuse_values(0, protected) for name in _ON_A_PROCESS}
    for name, only in (("setpriority", _PRIO_PROCESS), ("ioprio_set", _IOPRIO_WHO_PROCESS)):
        checks[name] = [_load(0), (_JUMP_EQUAL, 1, 0, only), _REFUSE, *_refuse_values(1, protected)]
    checks["clone"] = [_load(0), (_JUMP_ANY_BIT, 0, 1, _NAMESPACE_FLAGS), _REFUSE]
    checks["socketpair"] = _refuse_other_values(0, (socket.AF_UNIX,))
    if limits.opens_sockets:
        checks["socket"] = _refuse_other_values(0, _FAMILIES)
    checks["ioctl"] = _refuse_values(1, _REFUSED_IOCTLS)
    locks = () if limits.shares_memory else _RECORD_LOCKS  # The profilers of CUDA may lock files.
    checks["fcntl"] = _refuse_values(1, (*_REFUSED_FCNTLS, *locks))
    if not limits.shares_memory:
        shared = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
        checks["mmap"] = [_load(3), (_AND, 0, 0, shared), (_JUMP_EQUAL, 0, 1, shared), _REFUSE]
    return checks


def _load(argument: int) -> _Line:
    """Load the lower half of an argument. The kernel ignores the upper half of the checked arguments."""
    return (_LOAD_WORD, 0, 0, _ARGUMENTS + 8 * argument)


def _refuse_values(argument: int, values: Iterable[int]) -> list[_Line]:
    lines = [_load(argument)]
    for value in sorted(values):
        lines += [(_JUMP_EQUAL, 0, 1, value & 0xFFFFFFFF), _REFUSE]
    return lines


def _refuse_other_values(argument: int, values: Iterable[int]) -> list[_Line]:
    accepted = list(values)
    lines = [(_JUMP_EQUAL, len(accepted) - index, 0, value) for index, value in enumerate(accepted)]
    return [_load(argument), *lines, _REFUSE]


def install(limits: Limits, protected: set[int]) -> None:
    """Install the filter for this process and its children. Requires no_new_privs."""
    instructions = assemble(os.uname().machine, limits, protected)
    array = (_Instruction * len(instructions))(*(_Instruction(*line) for line in instructions))
    program = _Program(len(instructions), array)
    linux.prctl(linux.PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))
