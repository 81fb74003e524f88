"""Shared parts of the attacks on the sandbox: a jail of every tier, and a measurement of its memory.

An attack is a source that the jail executes as plain Python.
"""

import contextlib
import dataclasses
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from explorer.model import Diagnostic, Log, Request
from explorer.sandbox import Limits, SandboxSettings
from explorer.sandbox.errors import SlotBroken
from explorer.sandbox.launcher import NOBODY, Launcher, find_bubblewrap
from explorer.sandbox.slot import Slot
from explorer.sandboxes import gpu_sandbox
from explorer.settings import Settings

MIB = 1024 * 1024
MEMORY_BYTES = 1024 * MIB
LIMITS = Limits(working_seconds=15, cpu_seconds=10, memory_bytes=MEMORY_BYTES, processes=80)
SETTINGS = SandboxSettings(
    limits=LIMITS,
    entry_point="python_entry_point",
    python_path=(Path(__file__).parents[1] / "sandbox" / "jailed",),
    start_seconds=30,
)
_SYSTEM_PYTHON = "/usr/bin/python3"
_TIERS = ["root", "nobody", "user", "gpu", "unsafe"]


class Tier:
    """A jail of one tier, replaced when it breaks. `python` is a different interpreter for it."""

    def __init__(self, name, launcher, python=None):
        self.name = name
        self.launcher = launcher
        self.limits = launcher.settings.limits
        self._python = python
        #: Whether the job has its own process namespace.
        self.owns_processes = launcher.bubblewrap is not None and self.limits.owns_processes
        self.slot = self.start()

    def start(self):
        """Start a jail."""
        with pytest.MonkeyPatch.context() as patch:
            if self._python is not None:
                patch.setattr(sys, "executable", self._python)
                patch.setattr(sys, "prefix", "/usr")
                patch.setattr(sys, "base_prefix", "/usr")
            return Slot(self.launcher, None, self.launcher.settings.entry_point)

    def run(self, source):
        """Execute a source and prepare the next job."""
        events: list[Any] = []
        try:
            events += self.slot.run(Request(source, "", ""), lambda: False)
            self.slot.next()
        except SlotBroken:
            self.slot.close()
            self.slot = self.start()
            raise
        return Result(events)

    def run_measured(self, source):
        """Execute a source. Return its result, and the most memory that its processes held, in bytes.

        A job that holds twice its limit is killed, to protect this machine.
        """
        jail = self.slot.process
        before = held_bytes(jail.pid)
        held, over = [before], threading.Event()

        def watch():
            while not over.is_set():
                held.append(held_bytes(jail.pid))
                if held[-1] - before > 2 * self.limits.memory_bytes:
                    jail.kill()
                time.sleep(0.005)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            result = self.run(source)
        except SlotBroken as error:
            result = error
        finally:
            over.set()
            watcher.join()
        return result, max(held) - before


class Result:
    """The events of one job, and their text for users."""

    def __init__(self, events):
        self.done = events[-1]
        self.message = "\n".join(event.message for event in events if isinstance(event, Diagnostic))
        self.output = "".join(event.text for event in events if isinstance(event, Log))

    def __repr__(self):
        return f"{self.done.status}: {self.message}{self.output}"


def descendants(outermost):
    """Return a process and its descendants."""
    processes = [outermost]
    for process in processes:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{process}/task").iterdir():
                processes += map(int, (task / "children").read_text().split())
    return processes


def held_bytes(outermost):
    """Return the memory of a process and its descendants that belongs to no file."""
    total = 0
    for process in descendants(outermost):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith(("Pss_Anon:", "Pss_Shmem:", "SwapPss:")):
                    total += 1024 * int(line.split()[1])
    return total


def _nobody_can_run(python):
    command = [python, "-c", "import sys; assert sys.version_info >= (3, 11); import explorer.sandbox.zygote"]
    environment = {"PYTHONPATH": str(Path(__file__).parents[2])}
    with contextlib.suppress(OSError):
        return subprocess.run(command, env=environment, user=NOBODY, check=False, cwd="/").returncode == 0
    return False


@pytest.fixture(scope="session", params=_TIERS)
def tier(request):
    """A jail of each tier that this machine can build."""
    name, is_root = request.param, os.getuid() == 0
    if (name in ("root", "nobody")) != is_root and name not in ("gpu", "unsafe"):
        pytest.skip("started by root" if is_root else "only root can build it")
    settings, bubblewrap, way, python = SETTINGS, find_bubblewrap(SETTINGS), name, None
    if name == "gpu":
        way = "root" if is_root else "user"
        own = Settings(gpu_memory_limit_bytes=MEMORY_BYTES, gpu_wall_limit_seconds=15)
        settings = dataclasses.replace(SETTINGS, limits=gpu_sandbox(own, (), {}, ()).limits)
    elif name == "unsafe":
        settings, bubblewrap = dataclasses.replace(SETTINGS, unsafe=True), None
    if way in ("nobody", "unsafe") and is_root and not _nobody_can_run(sys.executable):
        python = _SYSTEM_PYTHON
        if not _nobody_can_run(python):
            pytest.skip("nobody can read no interpreter")
    tier = Tier(name, Launcher(way, bubblewrap, settings), python)
    yield tier
    tier.slot.close()
