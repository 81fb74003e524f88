"""Test that a warm disassembler prints what nvdisasm prints, and the effect of a job that attacks it."""

import base64
import dataclasses
import random
import socket
import threading
from pathlib import Path

import psutil
import pytest
from disassembled import PTX, Tools, wait_for
from processes import ask_each, named
from tritons import TRITONS

from explorer.model import Request
from explorer.model.hardware import TARGETS
from explorer.pipeline.warm_disassembler import LENGTH, ask
from explorer.sandbox import Sandbox, SandboxSettings
from explorer.sandbox.disassemblers import Disassemblers
from explorer.sandbox.launcher import find_bubblewrap, launchers

from .conftest import JAILED, SMALL, Wall

pytestmark = pytest.mark.slow

NVIDIA = [target for target in TARGETS if target.vendor == "NVIDIA"]
CASES = [
    pytest.param(triton, target, id=f"{triton}-{target.architecture}")
    for triton in TRITONS
    for target in NVIDIA
]


class Warm:
    """The disassembler of one Triton version for one target."""

    def __init__(self, settings, triton, target):
        self.target = target
        self.tools = Tools(triton, target.triton_architecture)
        self.all = Disassemblers(launchers(settings, find_bubblewrap(settings))[0])
        self.connect().close()
        wait_for(lambda: self.all.ready or self.all.problem, "no disassembler")
        assert self.all.ready, self.all.problem
        (self.one,) = self.all._running.values()

    def connect(self):
        ours, theirs = socket.socketpair()
        with theirs:
            self.all.offer(self.tools.folder, self.target.name, theirs)
        return ours

    def list(self, cubin):
        with self.connect() as connection:
            return ask(connection, cubin)

    def processes(self):
        """Return the fork server, and its children."""
        return named(psutil.Process(self.one.process.pid).children(recursive=True), "nvdisasm")


def settings(**limits):
    return SandboxSettings(limits=dataclasses.replace(SMALL, **limits))


@pytest.fixture(scope="module")
def warm():
    warm = Warm(settings(), TRITONS[0], next(target for target in NVIDIA if target.name == "cuda:90"))
    yield warm
    warm.all.close()


@pytest.fixture(scope="module")
def cubin(warm, tmp_path_factory):
    return warm.tools.assemble("loop", tmp_path_factory.mktemp("cubin"))


@pytest.mark.nightly
@pytest.mark.parametrize(("triton", "target"), CASES)
def test_the_listing_is_that_of_a_new_nvdisasm(triton, target, tmp_path):
    warm = Warm(settings(working_seconds=30, cpu_seconds=20), triton, target)
    try:
        instructions = set()
        for name in [*PTX, *reversed(PTX)]:
            cubin = warm.tools.assemble(name, tmp_path)
            expected = warm.tools.list(cubin, tmp_path)
            assert warm.list(cubin) == expected, name
            instructions |= set(expected.decode().split())
        assert {"EXIT", "BRA"} <= instructions
        for indirect in ("BRX", "CALL"):
            assert any(word.startswith(indirect) for word in instructions)
        assert "//##" in instructions
    finally:
        warm.all.close()


def test_a_damaged_cubin_costs_only_its_own_process(warm, cubin):
    expected = warm.list(cubin)
    chance = random.Random(1)
    unlisted = 0
    for _ in range(60):
        damaged = bytearray(cubin)
        for _ in range(chance.randrange(1, 40)):
            damaged[chance.randrange(64, len(damaged))] = chance.randrange(256)
        unlisted += warm.list(bytes(damaged)) is None
    for broken in (b"", b"\x7fELF", bytes(5000), cubin[:100], cubin[: len(cubin) // 2]):
        assert warm.list(broken) is None
    assert unlisted > 0
    assert warm.list(cubin) == expected
    wait_for(lambda: len(warm.processes()) == 1, "a process is left")


def test_a_cubin_of_another_architecture_is_refused(warm, tmp_path):
    other = Tools(TRITONS[0], 80)
    assert warm.list(other.assemble("loop", tmp_path)) is None


def test_a_client_that_waits_keeps_nobody_waiting(warm, cubin):
    silent = [warm.connect() for _ in range(8)]
    silent[0].sendall(LENGTH.pack(len(cubin)) + cubin[:50])
    wait_for(lambda: len(warm.processes()) == 9, "not every connection has a process")
    assert warm.list(cubin)
    for connection in silent:
        connection.close()
    wait_for(lambda: len(warm.processes()) == 1, "a process outlives its connection")


def test_a_client_that_reads_nothing_ends_with_its_time(cubin):
    warm = Warm(
        settings(working_seconds=1), TRITONS[0], next(each for each in NVIDIA if each.name == "cuda:90")
    )
    try:
        with warm.connect() as connection:
            connection.settimeout(30)
            assert connection.recv(1) == b""
        assert warm.list(cubin)
    finally:
        warm.all.close()


@pytest.mark.nightly
def test_memory_does_not_grow(warm, cubin):
    server = warm.processes()[0]

    def state():
        return server.memory_info().rss, server.num_fds()

    for _ in range(20):
        warm.list(cubin)
    before = state()
    for _ in range(200):
        assert warm.list(cubin)
    wait_for(lambda: len(warm.processes()) == 1, "a process is left")
    after = state()
    assert after[0] <= before[0] + 64 * 1024
    assert after[1] == before[1]


def test_it_ends_when_nobody_needs_it():
    warm = Warm(
        dataclasses.replace(settings(), disassembler_idle_seconds=1.0),
        TRITONS[0],
        next(target for target in NVIDIA if target.name == "cuda:90"),
    )
    process = psutil.Process(warm.one.process.pid)
    wait_for(lambda: not warm.all.ready and not process.is_running(), "it does not end")
    assert warm.all.problem == ""
    warm.all.close()


def test_there_are_never_more_than_the_setting(warm):
    few = Disassemblers(warm.all._launcher)
    object.__setattr__(few._launcher.settings, "warm_disassemblers", 1)
    try:
        for target in NVIDIA:
            ours, theirs = socket.socketpair()
            few.offer(None, target.name, theirs)
            theirs.close()
            assert ours.recv(1) == b""
            ours.close()
        assert len(few._running) == 1
    finally:
        object.__setattr__(few._launcher.settings, "warm_disassemblers", 4)
        few.close()


class JobWall(Wall):
    """A sandbox whose jobs are plain Python, with a connection to the disassembler of sm_90."""

    def request(self, source):
        return Request(source, "cuda:90", self.sandbox.versions[0], task="compile")

    def ask(self, cubin, more=""):
        """Run a job that asks for a listing, and return its output."""
        source = (
            "import base64, os, sys, time\n"
            "from explorer.pipeline.warm_disassembler import warm_listing\n"
            f"cubin = base64.b64decode({base64.b64encode(cubin).decode()!r})\n"
        )
        return self.run(source + (more or "print(warm_listing(cubin))\n"))


@pytest.fixture(scope="module")
def jobs(cubin):
    sandbox = Sandbox(
        SandboxSettings(
            limits=SMALL, slots_per_version=1, entry_point="python_entry_point", python_path=(JAILED,)
        )
    )
    sandbox.start()
    jobs = JobWall(sandbox)
    assert jobs.ask(cubin).logs["stdout"].strip() == "None"  # It starts with this job.
    wait_for(lambda: sandbox.disassemblers[0], "no disassembler")
    yield jobs
    sandbox.close()


def test_a_job_gets_one_listing(jobs, warm, cubin):
    result = jobs.ask(cubin, "print(warm_listing(cubin), end='')\nprint(warm_listing(cubin))\n")
    assert result.logs["stdout"] == f"{warm.list(cubin).decode()}None\n"


def test_a_disassembler_ends_with_its_job(jobs, cubin):
    (one,) = jobs.sandbox._pools.disassemblers._running.values()

    def children():
        return len(named(psutil.Process(one.process.pid).children(recursive=True), "nvdisasm")) - 1

    cancelled = threading.Event()
    request = jobs.request("import time\nprint('waits', flush=True)\ntime.sleep(60)\n")
    events = jobs.sandbox.run(request, cancelled)
    reader = threading.Thread(target=lambda: list(events))
    reader.start()
    wait_for(lambda: children() == 1, "the job has no process")
    cancelled.set()
    reader.join()
    wait_for(lambda: children() == 0, "the process outlives its job")
    assert jobs.ask(cubin).logs["stdout"].strip() != "None"


def test_a_job_goes_on_when_the_disassembler_is_killed(jobs, cubin):
    (one,) = jobs.sandbox._pools.disassemblers._running.values()
    ask_each(psutil.Process(one.process.pid).children(recursive=True), psutil.Process.kill)
    assert jobs.ask(cubin).logs["stdout"].strip() == "None"
    wait_for(lambda: jobs.ask(cubin).logs["stdout"].strip() != "None", "it does not start again")


def test_without_the_library_nothing_is_started(monkeypatch, warm):
    monkeypatch.setattr("explorer.sandbox.disassemblers.LIBRARY", Path("/not/there"))
    without = Disassemblers(warm.all._launcher)
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            without.offer(None, "cuda:90", theirs)
        assert ask(ours, b"x") is None
    assert without.ready == []
    assert "not built" in without.problem
