"""The sandbox attacking itself at the start: an entry point like the pipeline's, by the standard library.

`perform` tries what must fail and what must work, and emits a diagnostic for each surprise. The
source is a list of paths, one a line, that must not be there; with the option `opens_sockets` there must be
nobody to reach by one, and without `owns_processes` other processes of the jail must be out of reach.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from explorer.model import Diagnostic, Done, Event, Request
from explorer.sandbox import linux


def warm_up() -> None:
    """Nothing to do: the probe must start fast."""


def perform(request: Request, emit: Callable[[Event], None]) -> None:
    """Attack, and tell what succeeded."""
    holes = []
    attacks = _attacks(request.source.splitlines())
    if request.options.get("opens_sockets"):
        attacks["reach a network"] = _reach_a_network
    else:
        attacks["open a socket"] = lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    if request.options.get("owns_processes"):
        attacks["see the zygote"] = _see_the_zygote
    else:
        attacks["write into the zygote"] = _write_into_the_zygote
    for name, attack in attacks.items():
        try:
            attack()
        except (OSError, ValueError):
            continue
        holes.append(f"user code can {name}")
    for name, need in _NEEDS.items():
        try:
            need()
        except (OSError, subprocess.SubprocessError) as error:
            holes.append(f"user code cannot {name}: {error}")
    for hole in holes:
        emit(Diagnostic("error", hole))
    emit(Done("failed" if holes else "complete", 0))


def _attacks(hidden: list[str]) -> dict[str, Callable[[], object]]:
    attacks: dict[str, Callable[[], object]] = {
        "make namespaces": lambda: linux.unshare(linux.CLONE_NEWUSER),
        "mount": lambda: linux.mount("tmpfs", tempfile.gettempdir(), "tmpfs", 0),
        "become root": lambda: os.setuid(0),
        "write beside its packages": lambda: (Path(sys.prefix) / ".probe").touch(),
    }
    for path in hidden:
        attacks[f"read {path}"] = lambda path=path: os.listdir(path) if os.path.isdir(path) else open(path)  # type: ignore[misc]  # noqa: PTH112, PTH123, PTH208, SIM115
    return attacks


def _reach_a_network() -> None:
    if all(name == "lo" for _, name in socket.if_nameindex()):
        raise OSError("no network but the job's own")


def _see_the_zygote() -> None:
    if os.getppid() == 1:
        raise ProcessLookupError("the only parent is the namespace's first process")


def _write_into_the_zygote() -> None:
    """Its own warden and that one's parent came after the zygote, and are the job's; the rest is not."""
    zygote = _parent(_parent(os.getppid()))
    os.close(os.open(f"/proc/{zygote}/mem", os.O_RDWR))


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


_NEEDS: dict[str, Callable[[], object]] = {
    "start programs": lambda: subprocess.run(["/bin/true"], check=True, timeout=10),
    "write temporary files": lambda: tempfile.TemporaryFile().close(),
}
