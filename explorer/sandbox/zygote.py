"""A process that forks. The first zygote of a jail imports the modules that all Triton versions share.

    python -m explorer.sandbox.zygote <control socket> <options as JSON>

A zygote never reads a source. It obeys three commands, which come over its control socket:

    fork            Fork a zygote, whose control socket comes with the command. Answer with its handle.
    warm up FOLDER  Import the Triton of a folder, or the interpreter's own, and warm up the pipeline.
    job             Fork the processes of a job. Four descriptors come with the command: one to read the
                    request from, one to write the events to, a connection to a disassembler, and a socket for
                    later jobs of the same script (see `warden`). Answer with a handle of the job's namespace,
                    and with a second message when the namespace has ended.

The zygote of a version is a fork of the first zygote. The zygote of a slot, which gets the jobs, is a fork of
the version's zygote. They share the memory of earlier imports. Answers are JSON objects, one per
datagram: {"ready": …}, {"forked": …}, {"started": …}, {"ended": …} or {"failed": …}.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from explorer.sandbox import confine, landlock, linux, memory, written_pages
from explorer.sandbox.settings import Limits
from explorer.sandbox.warden import Warden

_START_FAILED = 70
_THREAD_EXIT_SECONDS = 2.0
_MESSAGE_BYTES = 8192
_MOST_DESCRIPTORS = 8
#: The warden, the keeper, the zygotes of the slot and of the version, the first zygote, and its parent.
_GUARD_COUNT = 6
_WARM_UP = "warm up "

#: The descriptors of a job: the request, the events, the connection to a disassembler, the socket for later
#: jobs.
Descriptors = tuple[int, int, int, int]


@dataclass(frozen=True)
class Options:
    """The settings from the web side for a zygote.

    `jailed`: this process is inside bubblewrap. The first zygote imports `shared_modules`. `kept_folders` are
    the folders below /tmp that jobs must be able to read, and `package_folders` those with packages for user
    code. `program_folders` and `listed_folders` are the folders that Landlock permits (see `landlock.Paths`).
    """

    entry_point: str
    jailed: bool
    shared_modules: list[str]
    kept_folders: list[str]
    package_folders: list[str]
    program_folders: list[str]
    listed_folders: list[str]
    limits: Limits


def _count_threads() -> int:
    """Count the threads of this process, after joined threads have really ended.

    Python's `join` returns when the Python code of a thread is done. The kernel ends the thread a moment
    later.
    """
    deadline = time.monotonic() + _THREAD_EXIT_SECONDS
    while (count := len(list(Path("/proc/self/task").iterdir()))) != 1 and time.monotonic() < deadline:
        time.sleep(0.001)
    return count


def main() -> None:
    """Drop root, import the shared modules, then obey until the other end closes the socket."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    plain = json.loads(sys.argv[2])
    options = Options(**{**plain, "limits": Limits(**plain["limits"])})
    if os.getuid() == 0:
        if options.jailed:
            confine.mount_proc()  # bubblewrap would cover parts of /proc, and a job could not mount its own.
        confine.become_nobody()
    _depend_on_parent()
    with _folder("zygote") as folder:
        os.environ.update(HOME=folder, TMPDIR=folder, TRITON_CACHE_DIR=f"{folder}/.triton")
        for name in options.shared_modules:
            importlib.import_module(name)
    _prepare_to_fork()
    _tell(control, {"ready": True})
    while (received := _receive(control)) is not None:
        command, descriptors = received
        if command == "fork":
            control = _fork(control, descriptors[0])
        elif command == "job":
            request, events, disassembler, later = descriptors
            _serve(control, (request, events, disassembler, later), options)
        else:
            _warm_up(options, command.removeprefix(_WARM_UP))
            _tell(control, {"ready": True})


def _depend_on_parent() -> None:
    """End with the parent, and adopt the orphans of a child. A fork inherits neither property."""
    # Without bubblewrap, nothing else ends this process when the web side ends.
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)


def _warm_up(options: Options, triton: str) -> None:
    """Import Triton from a folder or from the interpreter's packages, and run the pipeline with it."""
    if triton:
        sys.path.insert(0, triton)
        os.environ["PYTHONPATH"] = os.pathsep.join([triton, os.environ.get("PYTHONPATH", "")])
    with _folder("zygote") as folder:
        os.environ.update(HOME=folder, TMPDIR=folder, TRITON_CACHE_DIR=f"{folder}/.triton")
        job = importlib.import_module(options.entry_point)
        job.warm_up()
        sys.path.extend(options.package_folders)  # Last, after the warm-up: they hide no module.
        _prepare_to_fork()
        if hasattr(job, "rehearse"):
            written_pages.find(job.rehearse)


def _prepare_to_fork() -> None:
    """Check that nothing prevents a fork, and keep as little memory as possible."""
    threads = _count_threads()
    if threads != 1 or threading.active_count() != 1:
        raise SystemExit(
            f"{threads} threads exist after the warm-up; every forked child could deadlock on their locks"
        )
    confine.keep_out()
    gc.collect()
    gc.freeze()
    linux.release_memory()


def _fork(control: socket.socket, descriptor: int) -> socket.socket:
    """Fork a zygote with its own control socket. Return the control socket of the present process."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # The kernel removes the zygotes that have ended.
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        control.close()
        _depend_on_parent()
        if os.getppid() != parent:
            os._exit(_START_FAILED)
        return socket.socket(fileno=descriptor)
    os.close(descriptor)
    try:
        handle = os.pidfd_open(child)
    except ProcessLookupError:
        _tell(control, {"failed": "the zygote of a slot ended at once"})
    else:
        _tell(control, {"forked": True}, handle)
        os.close(handle)
    return control


def _serve(control: socket.socket, descriptors: Descriptors, options: Options) -> None:
    """Execute one job: fork its keeper, wait for it, and kill what remains."""
    zygote = os.getpid()
    own = contextlib.nullcontext("/tmp")  # noqa: S108  the job's own
    with own if options.jailed else _folder("job") as folder:
        keeper = os.fork()
        if keeper == 0:
            _keep(control, descriptors, options, folder, zygote)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(keeper, 0)
        _kill_orphans()
    _tell(control, {"ended": os.waitstatus_to_exitcode(status)})


def _keep(
    control: socket.socket, descriptors: Descriptors, options: Options, folder: str, zygote: int
) -> NoReturn:
    """Enter new namespaces, fork their first process, send its handle, and limit its job's memory."""
    try:
        if options.jailed:
            confine.enter_namespaces(options.limits)
        confine.keep_out()
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        link, wardens_link = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Created here, because a job pays for the sockets that are created later.
        copies = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        job_memory = memory.JobMemory(options.limits, jailed=options.jailed, zygote=zygote)
        warden = os.fork()
        if warden == 0:
            link.close()
            _guard(control, wardens_link, copies, descriptors, options, folder)
        for end in (wardens_link, *copies):
            end.close()
        _tell(control, {"started": True}, os.pidfd_open(warden))
        for descriptor in descriptors:
            os.close(descriptor)
        memory.enforce(job_memory, options.limits, warden, link)
        _, status = os.waitpid(warden, 0)
        os._exit(0 if status == 0 else 1)
    except BaseException as error:  # The warden dies with this process, and the job with the warden.
        _tell(control, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(_START_FAILED)


def _guard(
    control: socket.socket,
    link: socket.socket,
    copies: tuple[socket.socket, socket.socket],
    descriptors: Descriptors,
    options: Options,
    folder: str,
) -> NoReturn:
    """Confine this process, then supervise the process that executes user code."""
    limits = options.limits
    try:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        owns_processes = options.jailed and limits.owns_processes
        protected = {1} if owns_processes else _guards_of_a_shared_namespace()
        if options.jailed:
            confine.mount_private_folder(limits, options.kept_folders)
        if owns_processes:
            with contextlib.suppress(OSError):  # The probe reports the failure.
                confine.mount_proc()
        confine.limit_resources(limits, own_namespace=options.jailed)
        rules = None
        if options.jailed:
            paths = landlock.Paths(options.program_folders, options.listed_folders)
            rules = landlock.create(paths, limits)
        linux.fix_addresses()  # Where this is refused, one PTX may give two binaries.
        confine.give_up_privileges(limits, protected)
        confine.keep_out()
    except BaseException as error:
        _tell(control, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(_START_FAILED)
    control.close()
    _forget_standard_streams()
    try:
        request, events, disassembler, later = descriptors
        warden = Warden(link, socket.socket(fileno=later), copies, limits, rules, jailed=options.jailed)
        warden.run(request, events, disassembler, options.entry_point, folder)
    finally:
        os._exit(_START_FAILED)


def _guards_of_a_shared_namespace() -> set[int]:
    """Return the warden, its keeper, the zygotes, the parent of the first zygote, and their group leaders.

    Negative numbers name process groups, and -1 all processes.
    """
    guards, process = {1}, os.getpid()
    with contextlib.suppress(FileNotFoundError):  # /proc may hide the processes of other users.
        for _ in range(_GUARD_COUNT):
            status = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            guards |= {process, int(status[2])}
            process = int(status[1])
    guards -= {0}
    return guards | {-guard for guard in guards}


def _forget_standard_streams() -> None:
    """Close the zygote's streams: they outlive the job, and user code could reach streams of this process."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)


def _kill_orphans() -> None:
    """Kill the remaining processes of a job without its own namespace. This process has adopted them."""
    while True:
        children = Path(f"/proc/self/task/{os.getpid()}/children")
        for child in children.read_text().split():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(child), signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


@contextlib.contextmanager
def _folder(name: str) -> Iterator[str]:
    """Create a temporary folder. Remove it with all its contents at the end, without following links."""
    folder = tempfile.mkdtemp(prefix=f"explorer-{name}-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _receive(control: socket.socket) -> tuple[str, list[int]] | None:
    """Wait for a command. Return it with its descriptors, or None if the other end has closed the socket."""
    descriptors = array.array("i")
    message, ancillary, _, _ = control.recvmsg(
        _MESSAGE_BYTES, socket.CMSG_SPACE(_MOST_DESCRIPTORS * descriptors.itemsize)
    )
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(data)
    return (message.decode(), descriptors.tolist()) if message else None


def _tell(control: socket.socket, message: dict[str, Any], *descriptors: int) -> None:
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
    control.sendmsg([json.dumps(message).encode()], [rights] if descriptors else [])


if __name__ == "__main__":
    main()
