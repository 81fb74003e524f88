"""The system call filter of a job: what a compiler never needs is refused by the kernel. Jail side.

Calls that name a privilege, another process, the network or a rarely tested corner of the kernel fail
with EPERM; calls newer than this table, and clone3, whose flags a filter cannot see, with ENOSYS, so that
libc falls back. Another architecture's calls kill.
"""

from __future__ import annotations

import ctypes
import errno
import os

from explorer.sandbox import linux

_LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_GREATER = 0x25
_JUMP_GREATER_EQUAL = 0x35
_JUMP_ANY_BIT = 0x45  # BPF_JSET
_RETURN = 0x06

_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000
_ALLOW = 0x7FFF0000

# Offsets in struct seccomp_data.
_NUMBER = 0
_ARCHITECTURE = 4
_FIRST_ARGUMENT = 16
_SECOND_ARGUMENT = 24

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
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX

#: Numbers that all architectures share.
_COMMON = {
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
}
_TABLES: dict[str, tuple[int, int, dict[str, int]]] = {
    # machine: (AUDIT_ARCH, number of clone, refused calls); ioctl follows in _IOCTL
    "x86_64": (
        0xC000003E,
        56,
        {
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
        220,
        {
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
#: What CUDA does not start without; there is nothing to reach by them.
_SOCKETS = {"socket", "connect", "accept", "accept4", "bind", "listen"}
_IOCTL = {"x86_64": 16, "aarch64": 29}


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def refused_calls(machine: str, *, opens_sockets: bool = False) -> dict[str, int]:
    """Name and number of each call that fails with EPERM on `machine`."""
    refused = {**_TABLES[machine][2], **_COMMON}
    return {name: number for name, number in refused.items() if not (opens_sockets and name in _SOCKETS)}


def assemble(machine: str, *, opens_sockets: bool = False) -> list[tuple[int, int, int, int]]:
    """Write the filter for `machine` (as `os.uname` says it): (code, skip if true, skip if false, operand).

    Raises:
        NotImplementedError: no table for this machine.
    """
    if machine not in _TABLES:
        raise NotImplementedError(f"no system call table for {machine}")
    architecture, clone, _ = _TABLES[machine]
    refuse = (_RETURN, 0, 0, _ERRNO | errno.EPERM)
    unknown = (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)
    kill = (_RETURN, 0, 0, _KILL_PROCESS)
    allow = (_RETURN, 0, 0, _ALLOW)
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
    for number in sorted(refused_calls(machine, opens_sockets=opens_sockets).values()):
        program += [(_JUMP_EQUAL, 0, 1, number), refuse]
    program += [
        (_JUMP_EQUAL, 0, 4, clone),
        (_LOAD_WORD, 0, 0, _FIRST_ARGUMENT),
        (_JUMP_ANY_BIT, 0, 1, _NAMESPACE_FLAGS),
        refuse,
        allow,
        (_JUMP_EQUAL, 0, 1 + len(_TERMINAL_INJECTION), _IOCTL[machine]),
        (_LOAD_WORD, 0, 0, _SECOND_ARGUMENT),
    ]
    for position, request in enumerate(_TERMINAL_INJECTION):
        program.append((_JUMP_EQUAL, len(_TERMINAL_INJECTION) - position, 0, request))
    return [*program, allow, refuse]


def install(*, opens_sockets: bool = False) -> None:
    """Filter the calls of this process and its children from now on. Needs no_new_privs."""
    instructions = assemble(os.uname().machine, opens_sockets=opens_sockets)
    array = (_Instruction * len(instructions))(*(_Instruction(*line) for line in instructions))
    program = _Program(len(instructions), array)
    linux.prctl(linux.PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))
