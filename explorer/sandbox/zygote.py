"""A process that has imported and warmed up the pipeline once, and forks a child for every job.

    python -m explorer.sandbox.zygote <control socket> <options as JSON>

It never reads a source. For each job it gets two descriptors over the control socket (where to read the
request, where to write the events), and answers with a handle on the job's namespace and, when that is
gone, with its end. Messages are JSON objects, one a datagram: {"ready": …}, {"started": …}, {"ended": …}
or {"failed": …}.
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

from explorer.sandbox import confine, linux
from explorer.sandbox.settings import Limits
from explorer.sandbox.warden import Warden

_START_FAILED = 70
_THREAD_EXIT_SECONDS = 2.0


@dataclass(frozen=True)
class Options:
    """What the web side decides for a zygote.

    `jailed`: a bubblewrap is around this process. `kept_folders`: those below /tmp that jobs must read.
    """

    entry_point: str
    jailed: bool
    kept_folders: list[str]
    limits: Limits


def _count_threads() -> int:
    """Count the threads of this process, once those that were joined have really gone.

    Python's `join` returns when a thread has nothing left to run; the kernel ends it a moment later.
    """
    deadline = time.monotonic() + _THREAD_EXIT_SECONDS
    while (count := len(list(Path("/proc/self/task").iterdir()))) != 1 and time.monotonic() < deadline:
        time.sleep(0.001)
    return count


def main() -> None:
    """Drop root, warm up, then serve jobs until the other end is closed."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    plain = json.loads(sys.argv[2])
    options = Options(**{**plain, "limits": Limits(**plain["limits"])})
    if os.getuid() == 0:
        confine.become_nobody()
    # Without bubblewrap nobody else sees to it that this process ends with the web side.
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    began = time.perf_counter()
    with _folder("zygote") as folder:
        os.environ.update(HOME=folder, TMPDIR=folder, TRITON_CACHE_DIR=f"{folder}/.triton")
        importlib.import_module(options.entry_point).warm_up()
    threads = _count_threads()
    if threads != 1 or threading.active_count() != 1:
        raise SystemExit(f"{threads} threads after the warm-up: their locks would hang every child")
    if not options.limits.owns_processes:
        confine.keep_out()
    gc.collect()
    gc.freeze()
    _tell(control, {"ready": {"milliseconds": (time.perf_counter() - began) * 1000}})
    while True:
        descriptors = _receive_descriptors(control)
        if descriptors is None:
            return
        _serve(control, descriptors, options)


def _serve(control: socket.socket, descriptors: tuple[int, int], options: Options) -> None:
    """Do one job: fork its keeper, wait for it and for whoever it left behind."""
    with _folder("job") if not options.jailed else contextlib.nullcontext("/tmp") as folder:  # noqa: S108
        keeper = os.fork()
        if keeper == 0:
            _keep(control, descriptors, options, folder)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(keeper, 0)
        _kill_orphans()
    _tell(control, {"ended": os.waitstatus_to_exitcode(status)})


def _keep(control: socket.socket, descriptors: tuple[int, int], options: Options, folder: str) -> NoReturn:
    """Enter new namespaces, fork their first process, hand out its handle, and wait for its end."""
    try:
        if options.jailed:
            confine.enter_namespaces(options.limits)
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        warden = os.fork()
        if warden == 0:
            _guard(control, descriptors, options, folder)
        _tell(control, {"started": True}, os.pidfd_open(warden))
        control.close()
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(warden, 0)
        os._exit(0 if status == 0 else 1)
    except BaseException as error:
        _tell(control, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(_START_FAILED)


def _guard(control: socket.socket, descriptors: tuple[int, int], options: Options, folder: str) -> NoReturn:
    """Lock this process in, then watch over the one that runs user code."""
    try:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        if options.jailed:
            confine.mount_private_folder(options.limits, options.kept_folders)
        confine.limit_resources(options.limits, own_namespace=options.jailed)
        confine.give_up_privileges(options.limits)
        os.setsid()  # a signal to its process group must not reach the zygote
    except BaseException as error:
        _tell(control, {"failed": f"{type(error).__name__}: {error}"})
        os._exit(_START_FAILED)
    control.close()
    _forget_standard_streams()
    try:
        request, events = descriptors
        Warden(events, options.limits, jailed=options.jailed).run(request, options.entry_point, folder)
    finally:
        os._exit(_START_FAILED)


def _forget_standard_streams() -> None:
    """The zygote's streams outlive the job, and user code could reach this process's: let go of them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)


def _kill_orphans() -> None:
    """Kill what a job without an own namespace has left: it became this process's child."""
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
    """Make a temporary folder, and remove it again without following or failing on what is inside."""
    folder = tempfile.mkdtemp(prefix=f"explorer-{name}-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _receive_descriptors(control: socket.socket) -> tuple[int, int] | None:
    descriptors = array.array("i")
    message, ancillary, _, _ = control.recvmsg(64, socket.CMSG_SPACE(2 * descriptors.itemsize))
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(data)
    if not message or len(descriptors) != 2:
        return None
    return descriptors[0], descriptors[1]


def _tell(control: socket.socket, message: dict[str, Any], *descriptors: int) -> None:
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
    control.sendmsg([json.dumps(message).encode()], [rights] if descriptors else [])


if __name__ == "__main__":
    main()
