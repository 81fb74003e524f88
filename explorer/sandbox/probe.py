"""The attacks of the sandbox on itself at start: an entry point like the pipeline's. Standard library only.

A job makes the attacks of one kind, which its option `attack` names (see `self_test`). It emits a diagnostic
for each attack that succeeds, and for each necessary operation that fails. The source is a `Jail` as JSON:
the operations and paths that the jail allows on purpose.
"""

from __future__ import annotations

import mmap
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from explorer.model import Diagnostic, Done, Event, Request
from explorer.sandbox import probe_attacks
from explorer.sandbox.probe_attacks import Attack, Jail

#: A file that one job leaves behind. The next job must not find it.
_LEFT_FILE = ".left"
_LEFT_PROGRAM = ("/bin/sleep", "60")
_MOST_DESCRIPTORS = 64
#: The time within which a busy machine ends a job that exceeds a limit.
_PATIENCE_SECONDS = 5.0
_PRIVATE_AND_FILLED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE


def warm_up() -> None:
    """Do nothing: the probe must start fast."""


def perform(request: Request, emit: Callable[[Event], None]) -> None:
    """Attack the jail, and emit a diagnostic for each attack that succeeded."""
    jail = Jail.of(request.source)
    kind = str(request.options["attack"])
    holes = []
    if kind == "reach":
        holes = _try(probe_attacks.all_of(jail)) + _need(jail)
        if jail.limits.owns_processes and not _has_its_own_proc():
            emit(
                Diagnostic(
                    "warning", "the kernel refuses the job its own /proc: the job sees the /proc of the jail"
                )
            )
    elif kind == "fill":
        _fill_memory(jail)
        holes = ["user code can use more memory than its limit"]
    elif kind == "forge":
        _leave_behind()
        _write_everywhere(b"no event\n")
        time.sleep(_PATIENCE_SECONDS)
        holes = ["user code can write invalid events"]
    elif kind == "look":
        holes = _try(_traces_of_the_last_job(jail))
    for hole in holes:
        emit(Diagnostic("error", hole))
    emit(Done("failed" if holes else "complete", 0))


def _try(attacks: Mapping[str, Attack]) -> list[str]:
    """Return the attacks that succeed."""
    holes = []
    for name, attack in attacks.items():
        try:
            attack()
        except (OSError, ValueError):
            continue
        holes.append(f"user code can {name}")
    return holes


def _need(jail: Jail) -> list[str]:
    """Return the necessary operations that fail."""
    holes = []
    needs: dict[str, Callable[[], object]] = {
        "start programs": lambda: subprocess.run(["/bin/true"], check=True, timeout=10),
        "write temporary files": lambda: tempfile.TemporaryFile().close(),
        "rename temporary files": _rename_to_another_folder,
    }
    for folder in jail.listed:
        needs[f"list {folder}"] = partial(_list, folder)
    for name, need in needs.items():
        try:
            need()
        except (OSError, subprocess.SubprocessError) as error:
            holes.append(f"user code cannot {name}: {error}")
    return holes


def _list(folder: str) -> None:
    list(Path(folder).iterdir())


def _rename_to_another_folder() -> None:
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        (Path(first) / "file").touch()
        (Path(first) / "file").rename(Path(second) / "file")


def _has_its_own_proc() -> bool:
    return Path("/proc/self").readlink().name == str(os.getpid())


def _fill_memory(jail: Jail) -> None:
    """Use twice the limit, in processes that each stay below the limit."""
    processes = []
    for _ in range(4):
        process = os.fork()
        if process == 0:
            block = mmap.mmap(-1, jail.limits.memory_bytes // 2, flags=_PRIVATE_AND_FILLED)
            time.sleep(_PATIENCE_SECONDS)
            block.close()
            os._exit(0)
        processes.append(process)
    for process in processes:
        os.waitpid(process, 0)


def _leave_behind() -> None:
    """Leave a file and a process in its own session."""
    (Path(tempfile.gettempdir()) / _LEFT_FILE).touch()
    subprocess.Popen(_LEFT_PROGRAM, start_new_session=True)  # noqa: S603  our own


def _write_everywhere(data: bytes) -> None:
    for descriptor in range(3, _MOST_DESCRIPTORS):
        try:
            os.write(descriptor, data)
        except OSError:
            continue


def _traces_of_the_last_job(jail: Jail) -> dict[str, Attack]:
    traces: dict[str, Attack] = {
        "read the files of another job": lambda: (Path(tempfile.gettempdir()) / _LEFT_FILE).stat(),
    }
    if jail.limits.owns_processes:  # Otherwise processes end with the jail.
        traces["outlive its job"] = _find_left_program
    return traces


def _find_left_program() -> None:
    line = b"".join(part.encode() + b"\0" for part in _LEFT_PROGRAM)
    if all(path.read_bytes() != line for path in Path("/proc").glob("[0-9]*/cmdline")):
        raise ProcessLookupError("no process is left")
