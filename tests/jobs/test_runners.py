"""Test the queue of each kind of device, with real jails whose jobs are plain Python.

No GPU is needed: `Driver` reports what NVIDIA's driver would, and its jobs are real.
"""

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import SettingsError
from explorer.jobs import LocalQueue, Metrics, QueueLimits, Runners, SandboxRunner
from explorer.jobs.devices import gpu_runners, interpreter_runners
from explorer.jobs.gpu import GpuRunner
from explorer.jobs.runners import NoDevice, TorchCompileRunner, runner_kind
from explorer.model import Log, Progress, Request, Run
from explorer.sandbox import Limits, Sandbox, SandboxSettings
from explorer.sandbox.nvidia import DriverError, Gpu, Usage, find_gpus, usage_of
from explorer.settings import Settings
from explorer.store import open_store

pytestmark = pytest.mark.slow

JAILED = Path(__file__).parents[1] / "sandbox/jailed"
WAITS = "emit(model.Progress(0, 1, 'waits'))\nimport time\nwhile True: time.sleep(1)"
FINE = "print('fine')"
JAIL = SandboxSettings(
    limits=Limits(working_seconds=30),
    slots_per_version=1,
    entry_point="python_entry_point",
    python_path=(JAILED,),
    warm_up=False,
)
CLEAN = Usage(0, frozenset())
GIBIBYTE = 1 << 30


class Driver:
    """The driver's report of each GPU."""

    def __init__(self):
        self.usage = {}

    def __call__(self, gpu):
        usage = self.usage.get(gpu.uuid, CLEAN)
        if isinstance(usage, Exception):
            raise usage
        return usage


class Desk:
    def __init__(self, folder, gpus, interpreters):
        self.driver = Driver()
        self.gpus: list[Any] = [
            GpuRunner(Gpu(f"GPU-{minor}", f"GPU {minor}", "9.0", "580", minor), Sandbox(JAIL), self.driver)
            for minor in range(gpus)
        ]
        self.interpreters: list[Any] = [
            SandboxRunner(Sandbox(JAIL), starts_it=True) for _ in range(interpreters)
        ]
        self.runners: Runners = {
            "compile": [SandboxRunner(Sandbox(JAIL), starts_it=True)],
            "interpreter": self.interpreters or [NoDevice("No interpreter.")],
            "gpu": self.gpus or [NoDevice("This machine has no GPU.")],
        }
        self.store = open_store(folder)
        self.queue = LocalQueue(self.store, self.runners, Metrics(), QueueLimits(50, 8))

    def request(self, source, device="gpu", **run):
        triton = self.interpreters[0].sandbox.versions[0]
        return Request(source, "cuda:90", triton, task="run", run=Run(device, **run))

    def running(self, request):
        """Submit a job and wait until it reports that it has begun."""
        record = self.queue.submit(request)
        next(entry for entry in self.queue.follow(record.id) if isinstance(entry, Progress))
        return record

    def close(self):
        self.queue.close()
        for runners in self.runners.values():
            for runner in runners:
                runner.close()
        self.store.close()


@pytest.fixture
def open_desk(tmp_path):
    desks = []

    def open_one(gpus=1, interpreters=1):
        desks.append(Desk(tmp_path, gpus, interpreters))
        return desks[-1]

    yield open_one
    for desk in desks:
        desk.close()


def output(entries):
    return "".join(entry.text for entry in entries if isinstance(entry, Log)).strip()


def test_a_program_with_torch_compile_is_told_what_it_waits_for():
    runner = TorchCompileRunner(Sandbox(JAIL))
    try:
        request = Request(FINE, "cuda:90", runner.sandbox.versions[0])
        first, second = (list(runner.run(request, threading.Event())) for _ in range(2))
    finally:
        runner.close()
    assert first[0] == Progress(0, 0, "starting the sandbox of torch.compile")
    assert second[0] == Progress(0, 0, "executing the program")
    assert output(first) == output(second) == "fine"


def test_a_request_waits_in_the_line_of_its_device(open_desk):
    desk = open_desk()
    assert runner_kind(desk.request("", "gpu")) == "gpu"
    assert runner_kind(desk.request("", "interpreter")) == "interpreter"
    assert runner_kind(replace(desk.request(""), task="compile", run=None)) == "compile"


@pytest.mark.parametrize(
    ("source", "files", "kind"),
    [
        ("import torch\ntorch.compile(f)(x)", {}, "torch_compile"),
        ("from torch import compile, nn\ncompile(nn.Linear(8, 8))", {}, "torch_compile"),
        ("import model\nmodel.run()", {"model.py": "import torch\nnet.compile()"}, "torch_compile"),
        ("import torch\nimport triton\n# as fast as torch.compile", {}, "compile"),
        ("import torch\ntorch.compile(f)", {"kernels.py": "from triton import jit"}, "compile"),
        ("import helion, torch", {}, "torch_compile"),
        ("import re\nre.compile('')", {}, "compile"),
        ("import torch", {}, "compile"),
    ],
)
def test_programs_for_the_compiler_of_torch_have_a_line_of_their_own(source, files, kind):
    request = Request(source, "cuda:90", "", files=files)
    assert runner_kind(request) == runner_kind(replace(request, task="inspect")) == kind
    assert runner_kind(replace(request, task="layouts")) == "compile"


def test_lines_do_not_wait_for_each_other_and_say_how_long_they_are(open_desk):
    desk = open_desk()
    running = desk.running(desk.request(WAITS))
    waiting = [desk.queue.submit(desk.request(FINE, attempt=attempt)) for attempt in range(3)]
    assert desk.queue.position(running) is None
    assert [desk.queue.position(record) for record in waiting] == [1, 2, 3]
    assert output(desk.queue.complete(desk.request(FINE, "interpreter")).entries) == "fine"
    compiled = desk.queue.complete(replace(desk.request(FINE), task="compile", run=None))
    assert compiled.status == "complete"
    desk.queue.cancel(waiting[0].id)
    assert [desk.queue.position(record) for record in waiting] == [None, 1, 2]
    assert desk.queue.find(waiting[0].id).result.diagnostics[0].message == "Canceled."
    desk.queue.cancel(running.id)
    assert [output(desk.queue.complete(record.request).entries) for record in waiting[1:]] == ["fine", "fine"]


def test_a_result_of_a_run_is_kept(open_desk):
    first = open_desk()
    record = first.queue.complete(first.request(FINE))
    again = first.queue.submit(first.request(FINE))
    assert again.is_final
    assert again.entries == record.entries
    compilation = replace(first.request(FINE), task="compile", run=None)
    assert [run.id for run in first.store.runs(compilation, 10)] == [record.id]
    another = first.queue.complete(first.request(FINE, seed=1))
    assert [run.id for run in first.store.runs(compilation, 10)] == [another.id, record.id]
    assert [run.id for run in first.store.runs(compilation, 1)] == [another.id]
    assert first.store.runs(replace(compilation, config=1), 10) == []


def test_gpus_work_side_by_side_one_job_each(open_desk):
    desk = open_desk(gpus=2)
    both = [desk.running(desk.request(WAITS, attempt=attempt)) for attempt in range(2)]
    third = desk.queue.submit(desk.request(FINE))
    assert desk.queue.position(third) == 1
    desk.queue.cancel(both[0].id)
    assert output(desk.queue.complete(third.request).entries) == "fine"
    assert desk.queue.find(both[1].id).status == "running"
    desk.queue.cancel(both[1].id)


@pytest.fixture
def impatient(monkeypatch):
    """Shorten the time after which a GPU that does not recover is taken out of service."""
    monkeypatch.setattr("explorer.jobs.gpu._RECOVERY_SECONDS", 0.5)
    monkeypatch.setattr("explorer.jobs.local._RECOVERY_CHECK_SECONDS", 0.2)


@pytest.mark.parametrize(
    ("left", "message"),
    [
        (Usage(3 * GIBIBYTE, frozenset()), "3,072 MiB of memory"),
        (Usage(0, frozenset({4711})), "1 process"),
        (DriverError("nvidia-smi failed: Unknown Error"), "Unknown Error"),
    ],
)
def test_a_gpu_that_is_not_given_back_goes_out_of_service_and_comes_back(open_desk, impatient, left, message):
    desk = open_desk()
    job = desk.running(desk.request(WAITS))
    waiting = desk.queue.submit(desk.request(FINE))
    desk.driver.usage["GPU-0"] = left
    desk.queue.cancel(job.id)
    refused = desk.queue.complete(waiting.request)
    assert refused.status == "failed"
    assert not refused.is_final
    assert "GPU 0 is out of service" in refused.result.diagnostics[0].hint
    assert message in refused.result.diagnostics[0].hint
    assert message in desk.queue.problem("gpu")
    assert desk.queue.problem("interpreter") is None
    desk.driver.usage.clear()
    while desk.queue.problem("gpu"):
        time.sleep(0.01)
    assert output(desk.queue.complete(waiting.request).entries) == "fine"


def test_a_gpu_that_does_not_recover_holds_up_no_stop(open_desk):
    desk = open_desk()
    job = desk.running(desk.request(WAITS))
    examined = threading.Event()
    usage = desk.driver.usage

    class Left(dict[str, Any]):
        def get(self, uuid: str, default: Any = None) -> Any:
            examined.set()
            return Usage(0, frozenset({4711}))

    desk.driver.usage = Left(usage)
    desk.queue.cancel(job.id)
    assert examined.wait(30)
    begin = time.monotonic()
    desk.queue.close()
    assert time.monotonic() - begin < 10  # it is given 20 s to recover


def test_the_other_gpu_goes_on(open_desk, impatient):
    desk = open_desk(gpus=2)
    jobs = [desk.running(desk.request(WAITS, attempt=attempt)) for attempt in range(2)]
    desk.driver.usage["GPU-0"] = Usage(GIBIBYTE, frozenset({1}))
    for job in jobs:
        desk.queue.cancel(job.id)
    for attempt in range(3):
        assert output(desk.queue.complete(desk.request(FINE, attempt=attempt)).entries) == "fine"
    assert desk.queue.problem("gpu") is None


def test_what_others_use_of_a_gpu_is_not_held_against_a_job(open_desk, impatient):
    desk = open_desk()
    desk.driver.usage["GPU-0"] = Usage(8 * GIBIBYTE, frozenset({1, 2}))
    for attempt in range(2):
        assert output(desk.queue.complete(desk.request(FINE, attempt=attempt)).entries) == "fine"
    assert desk.queue.problem("gpu") is None


def test_without_a_gpu_a_run_says_why(open_desk):
    desk = open_desk(gpus=0)
    assert desk.queue.problem("gpu") == "This machine has no GPU."
    record = desk.queue.complete(desk.request(FINE))
    assert record.status == "failed"
    assert record.result.diagnostics[0].hint == "This machine has no GPU."


@pytest.mark.parametrize(
    "source",
    [
        "while True: pass",
        "import os\nwhile True: os.fork()",
        "import os\nwhile True: os.write(1, b'a' * 65536)",
        "while True: emit(model.Progress(0, 1, 'again'))",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "x = []\nwhile True: x.append(bytearray(1 << 24))",
    ],
)
def test_after_a_hostile_run_the_next_one_works(open_desk, source):
    desk = open_desk()
    record = desk.queue.submit(desk.request(source, "interpreter"))
    stopper = threading.Timer(3, desk.queue.cancel, (record.id,))
    stopper.start()
    assert [*desk.queue.follow(record.id)][-1].status == "failed"
    stopper.cancel()
    assert output(desk.queue.complete(desk.request(FINE, "interpreter")).entries) == "fine"


def test_devices_follow_the_settings():
    (off,) = gpu_runners(Settings(gpus="none"))
    assert "TRITON_EXPLORER_GPUS" in off.problem
    (off,) = interpreter_runners(Settings(interpreter_slots=0))
    assert "TRITON_EXPLORER_INTERPRETER_SLOTS" in off.problem
    assert len(interpreter_runners(Settings(interpreter_slots=2))) == 2 + 1  # the reserve


@pytest.fixture
def driver_program(tmp_path, monkeypatch):
    """Provide an `nvidia-smi` as on a machine with two H200; return a function that replaces it."""
    program = tmp_path / "nvidia-smi"

    def answer(script):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    answer(
        "case $1 in *uuid*) echo 'GPU-a, NVIDIA H200, 9.0, 580.159.04, 00000000:00:07.0, 0'; "
        "echo 'GPU-b, NVIDIA H200, 9.0, 580.159.04, 00000000:00:08.0, 1';; "
        "*memory.used*) echo 529;; *) echo 4711; echo 4712;; esac"
    )
    control = tmp_path / "nvidiactl"
    control.touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("explorer.sandbox.nvidia._CONTROL", control)
    return answer


def test_what_the_driver_says_is_read(driver_program):
    first, second = find_gpus()
    assert (first.uuid, first.name, first.capability, first.driver) == (
        "GPU-a",
        "NVIDIA H200",
        "9.0",
        "580.159.04",
    )
    assert usage_of(second) == Usage(529 << 20, frozenset({4711, 4712}))
    driver_program("echo '[N/A]'")
    assert usage_of(second) == Usage(0, frozenset())
    with pytest.raises(DriverError, match=r"Cannot parse the output of nvidia-smi: '\[N/A\]'"):
        find_gpus()
    driver_program("echo 'NVIDIA-SMI has failed because it could not communicate with the driver'; exit 9")
    with pytest.raises(DriverError, match="could not communicate"):
        find_gpus()
    (refusing,) = gpu_runners(Settings())
    assert "could not communicate" in refusing.problem


def uuids(settings):
    return [runner.gpu.uuid for runner in gpu_runners(settings) if isinstance(runner, GpuRunner)]


def test_gpus_are_chosen_by_number(driver_program):
    assert uuids(Settings()) == ["GPU-a", "GPU-b"]
    assert uuids(Settings(gpus="1")) == ["GPU-b"]
    with pytest.raises(SettingsError, match="numbers from 0 to 1"):
        gpu_runners(Settings(gpus="2"))
