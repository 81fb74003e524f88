"""Test that the attack on a jail at start notices each way in which a jail can be too weak."""

import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.sandbox import Limits, SandboxSettings, landlock
from explorer.sandbox.launcher import Launcher, find_bubblewrap, launchers
from explorer.sandbox.self_test import attack
from explorer.sandboxes import compilation_sandbox, gpu_sandbox, interpreter_sandbox
from explorer.settings import Settings

pytestmark = pytest.mark.slow

BUBBLEWRAP = find_bubblewrap(SandboxSettings())


class Weakened(Launcher):
    """Starts jails with settings other than the declared ones."""

    @staticmethod
    def weaken(settings):
        return settings

    def start(self, control, errors, entry_point):
        return Launcher(self.way, self.bubblewrap, self.weaken(self.settings)).start(
            control, errors, entry_point
        )


def launcher_of(settings, weaken=lambda settings: settings, bubblewrap=BUBBLEWRAP):
    launcher = launchers(settings, bubblewrap)[0]
    weakened = type("Weakened", (Weakened,), {"weaken": staticmethod(weaken)})
    return weakened(launcher.way, launcher.bubblewrap, launcher.settings)


def with_limits(**changes):
    return lambda settings: replace(settings, limits=replace(settings.limits, **changes))


@pytest.mark.parametrize(
    "settings",
    [compilation_sandbox(Settings()), interpreter_sandbox(Settings()), gpu_sandbox(Settings(), (), {}, ())],
    ids=["compile", "interpreter", "gpu"],
)
def test_a_jail_of_each_kind_withstands_all_soon(settings):
    durations = []
    for _ in range(2):
        start = time.perf_counter()
        assert attack(launcher_of(settings)).holes == []
        durations.append(time.perf_counter() - start)
    assert min(durations) < 3  # 0.3 seconds on an idle machine


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("weaken", "hole"),
    [
        (with_limits(opens_sockets=True), "open a socket of AF_INET6"),
        (with_limits(shares_memory=True), "hold memory that no process maps"),
        (with_limits(shares_memory=True), "make the system call inotify_init1"),
        (with_limits(runs_own_files=True), "execute a file that it wrote"),
        (with_limits(owns_processes=False), "see the zygote"),
        (with_limits(limits_address_space=False), "reserve too much memory"),
        (with_limits(memory_bytes=Limits().memory_bytes), "use more memory than its limit"),
        (with_limits(processes=40), "start too many processes"),
        (with_limits(open_files=512), "open too many files"),
        (with_limits(scratch_bytes=Limits().scratch_bytes), "fill the disk"),
        (with_limits(scratch_files=Limits().scratch_files), "create too many files"),
        (with_limits(file_bytes=Limits().file_bytes), "write too large a file"),
        (lambda settings: replace(settings, environment={"SECRET": "1"}), "read variables of the server"),
        (lambda settings: replace(settings, devices=(Path("/dev/fuse"),)), "use a device of the machine"),
        (lambda settings: replace(settings, readable_folders=(Path("/etc"),)), "see /etc/passwd"),
    ],
)
def test_a_jail_that_is_too_weak_is_noticed(weaken, hole):
    if "device" in hole and not Path("/dev/fuse").exists():
        pytest.skip("this machine has no device that can stand for one")
    holes = attack(launcher_of(compilation_sandbox(Settings()), weaken)).holes
    assert f"user code can {hole}" in holes


def other_bubblewrap(folder, old, new):
    """Return a program that makes jails with other options."""
    program = folder / "bwrap"
    program.write_text(
        "#!/usr/bin/python3 -I\nimport os, sys\n"
        f"options = '\\0'.join(sys.argv[1:]).replace({old!r}, {new!r}).split('\\0')\n"
        f"os.execv({str(BUBBLEWRAP.path)!r}, ['bwrap', *options])\n"
    )
    program.chmod(0o755)
    return replace(BUBBLEWRAP, path=program)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("old", "new", "hole"),
    [
        ("--ro-bind\0/usr", "--bind\0/usr", "change the mount of /usr"),
        ("--remount-ro\0/\0", "", "change the mount of /"),
        ("--ro-bind-try\0", "--ro-bind\0/etc\0/etc\0--ro-bind-try\0", "see /etc/passwd"),
        ("--dev-bind\0/dev/null\0/dev/zero\0", "", "hold memory of a device"),
    ],
)
def test_a_mount_that_is_too_weak_is_noticed(tmp_path, old, new, hole):
    """Landlock would refuse what these mounts allow."""
    jail = launcher_of(compilation_sandbox(Settings()), bubblewrap=other_bubblewrap(tmp_path, old, new))
    assert f"user code can {hole}" in attack(jail).holes


@pytest.mark.skipif(landlock.abi() == 0, reason="this kernel has no Landlock")
def test_rules_of_landlock_without_effect_are_noticed(monkeypatch):
    path = Launcher._python_path
    monkeypatch.setattr(Launcher, "_python_path", lambda launcher: [*path(launcher), Path("/")])
    (hole,) = attack(launcher_of(compilation_sandbox(Settings()))).holes
    assert "Landlock has no effect" in hole


def test_a_network_is_noticed(tmp_path):
    bubblewrap = other_bubblewrap(tmp_path, "--unshare-net\0", "")
    if {name for _, name in socket.if_nameindex()} <= {"lo"}:
        pytest.skip("this machine has no network")
    jail = launcher_of(gpu_sandbox(Settings(), (), {}, ()), bubblewrap=bubblewrap)
    assert "user code can reach a network" in attack(jail).holes
