"""Test the kernel's own memory limit of a jail.

It needs a control group that is delegated to the tests: systemd-run --user --scope -p Delegate=yes make test
"""

import dataclasses
import os
from typing import Any

import pytest

from explorer.model import Request
from explorer.sandbox import control_group
from explorer.sandbox.launcher import find_bubblewrap, launchers
from explorer.sandbox.slot import Slot
from explorer.sandboxes import (
    compilation_sandbox,
    gpu_sandbox,
    interpreter_sandbox,
    torch_compile_sandbox,
)
from explorer.settings import Settings

pytestmark = pytest.mark.slow

MIB = 1024 * 1024
HOLD = (
    "import os, time\nif os.fork() == 0 or os.fork() == 0: pass\nblock = b'x' * (100 << 20)\ntime.sleep(60)"
)


@pytest.fixture
def slot(settings):
    limits = dataclasses.replace(settings.limits, memory_bytes=256 * MIB, cpu_seconds=20, working_seconds=20)
    settings = dataclasses.replace(settings, limits=limits)
    slot = Slot(launchers(settings, find_bubblewrap(settings))[0], None, settings.entry_point)
    yield slot
    slot.close()


def run(slot, source):
    """Execute a source, and return the text of its events."""
    events: list[Any] = []
    events += slot.run(Request(source, "", ""), lambda: False)
    slot.next()
    return " ".join(map(str, events))


def group_of(slot):
    """Return the folder of a jail's control group."""
    group = control_group.group_of(slot.process.pid)
    if group is None or not group.name.startswith("jail-"):
        pytest.skip("the control group of the tests is not delegated to them")
    return group


def test_the_keeper_stops_a_job_before_the_kernel_does(slot):
    group = group_of(slot)
    assert int((group / "memory.max").read_text()) > 256 * MIB
    assert "The limit of a job is 256 MiB" in run(slot, HOLD)
    assert "fine" in run(slot, "print('fine')")


def test_the_kernel_enforces_the_limit_alone(slot):
    group = group_of(slot)
    (group / "memory.max").write_text(str(128 * MIB))
    assert "SIGKILL" in run(slot, "block = b'x' * (200 << 20)")
    assert int((group / "memory.peak").read_text()) <= 128 * MIB
    assert "fine" in run(slot, "print('fine')")


@pytest.mark.parametrize("kind", ["compile", "torch_compile", "interpreter", "gpu"])
def test_a_jail_of_each_kind_gets_a_group(kind, tmp_path, monkeypatch):
    """A folder has the place of the kernel's file system."""
    own = Settings()
    kinds = {
        "compile": compilation_sandbox(own),
        "torch_compile": torch_compile_sandbox(own),
        "interpreter": interpreter_sandbox(own),
        "gpu": gpu_sandbox(own, (), {}, ()),
    }
    launcher = launchers(kinds[kind], find_bubblewrap(compilation_sandbox(own)))[0]
    monkeypatch.setattr(control_group, "_delegated_group", lambda: tmp_path)
    slot = Slot(
        dataclasses.replace(launcher, settings=dataclasses.replace(launcher.settings, shared_modules=())),
        None,
        "explorer.sandbox.probe",
    )
    try:
        (group,) = tmp_path.iterdir()
        assert int((group / "memory.max").read_text()) == int(1.05 * launcher.settings.limits.memory_bytes)
        assert (group / "memory.swap.max").read_text() == "0"
        assert int((group / "cgroup.procs").read_text()) == slot.zygote.process
    finally:
        slot.close()


def test_groups_of_killed_servers_are_removed(tmp_path):
    (tmp_path / f"jail-{os.getpid()}-0").mkdir()
    (tmp_path / f"jail-{2**30}-0").mkdir()
    control_group._remove_left_groups(tmp_path)
    assert [group.name for group in tmp_path.iterdir()] == [f"jail-{os.getpid()}-0"]


def test_the_first_jail_removes_the_groups_of_killed_servers(tmp_path, monkeypatch):
    """A folder with the files of the hierarchy's root shows that they are looked for when a server starts."""
    (tmp_path / "cgroup.procs").touch()
    (tmp_path / "cgroup.controllers").write_text("memory")
    left = tmp_path / f"jail-{2**30}-0"
    left.mkdir()
    monkeypatch.setattr(control_group, "group_of", lambda process: tmp_path)
    control_group._delegated_group.cache_clear()
    try:
        control_group.enclose(os.getpid(), 256 * MIB)
    finally:
        control_group._delegated_group.cache_clear()
    assert not left.exists()


def test_the_group_of_a_closed_jail_is_removed(slot):
    group = group_of(slot)
    slot.close()
    assert not group.exists()
