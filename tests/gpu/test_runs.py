"""On a GPU: test runs in their jails, and that each run starts on a clean GPU.

    python -m pytest tests/gpu/test_runs.py

Needs triton, torch, bubblewrap and what the package itself needs.
"""

import threading
import time

import msgspec
import pytest
from waiting import wait_for

from explorer.examples import find_example
from explorer.model import Progress, Request, Run
from explorer.model.measurements import Check, Counters, Environment, Samples, Timings
from explorer.sandbox.nvidia import DriverError, find_gpus, usage_of
from explorer.services import Services
from explorer.settings import MEBIBYTE, Settings

pytestmark = pytest.mark.slow

try:
    GPUS = find_gpus()
except DriverError as error:
    pytest.skip(str(error), allow_module_level=True)

HEAD = "import os, signal\nimport torch\nimport triton\nimport triton.language as tl\n"
TROUBLES = {
    "hangs": HEAD
    + """
@triton.jit
def kernel(x_ptr):
    value = tl.load(x_ptr)
    while value == 0:
        value = tl.load(x_ptr, volatile=True)
    tl.store(x_ptr, value)

kernel[(1,)](torch.zeros(1, dtype=torch.int32, device="cuda"))
torch.cuda.synchronize()
""",
    "reads out of bounds": HEAD
    + """
@triton.jit
def kernel(x_ptr, y_ptr):
    far = (tl.program_id(0) + 1).to(tl.int64) * (1 << 42)
    tl.store(y_ptr, tl.load(x_ptr + far))

x = torch.zeros(1024, device="cuda")
kernel[(64,)](x, torch.empty_like(x))
torch.cuda.synchronize()
""",
    "takes all memory": HEAD
    + """
@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)

blocks = []
while True:
    blocks.append(torch.ones(1 << 28, device="cuda"))
""",
    "is killed": HEAD
    + """
@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)

x = torch.ones(1 << 30, device="cuda")
torch.cuda.synchronize()
os.kill(os.getpid(), signal.SIGKILL)
""",
    "leaves children": HEAD
    + """
@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)

for _ in range(3):
    if os.fork() == 0:
        torch.ones(1 << 28, device="cuda").sum().item()
        while True:
            pass
signal.pause()
""",
}
FORBIDDEN = {
    "read files": ("open('/etc/passwd')", "'/etc/passwd'"),
    "reach a network": (
        "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)",
        "unreachable",
    ),
    "make namespaces": (
        "from explorer.sandbox import linux; linux.unshare(linux.CLONE_NEWUSER)",
        "not permitted",
    ),
}
#: What the driver keeps for itself after the first context.
SLACK_BYTES = 256 * MEBIBYTE


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    settings = Settings(
        data_dir=tmp_path_factory.mktemp("data"),
        slots=1,
        gpu_wall_limit_seconds=60,
        recordings_dir=tmp_path_factory.mktemp("recordings"),
    )
    found = Services(settings, warm_up=False)
    assert found.queue.problem("gpu") is None
    yield found
    found.close()


@pytest.fixture(scope="module")
def request_of(services):
    target, triton = services.gpu_target, services.triton_version(None)

    def make(source, *measures, **fields):
        return Request(source, target, triton, task="run", run=Run("gpu", measures, **fields))

    return make


@pytest.fixture(scope="module")
def vector_add():
    return find_example("vector_add").source


def document(record, name, wanted):
    return msgspec.json.decode(record.measurement(name), type=wanted)


def said(record):
    return "\n".join(f"{each.message} {each.hint}" for each in record.result.diagnostics)


def assert_works(services, request, before):
    """The next run is correct, and no process or memory of the last one remains on any GPU."""
    record = services.queue.complete(request)
    assert record.status == "complete", said(record)
    assert all(output.matches for output in document(record, "check", Check).outputs)
    wait_for(lambda: all(is_clean(gpu, before) for gpu in GPUS), "a GPU is not clean", seconds=20)
    assert services.queue.problem("gpu") is None


def is_clean(gpu, before):
    now = usage_of(gpu)
    is_back = now.memory_bytes <= before[gpu.uuid].memory_bytes + SLACK_BYTES
    return is_back and now.processes <= before[gpu.uuid].processes


@pytest.fixture
def before():
    return {gpu.uuid: usage_of(gpu) for gpu in GPUS}


def test_a_kernel_runs_is_right_and_is_timed(services, request_of, vector_add, before):
    record = services.queue.complete(request_of(vector_add, "check", "time"))
    assert record.status == "complete", said(record)
    assert document(record, "environment", Environment).gpu == GPUS[0].name
    assert {timing.method for timing in document(record, "timings", Timings).timings} >= {"proton"}
    assert_works(services, request_of(vector_add, "check", attempt=1), before)


def test_nsight_compute_works_in_the_jail(services, request_of, vector_add, before):
    record = services.queue.complete(request_of(vector_add, "counters", "samples"))
    assert record.status == "complete", said(record)
    counters = document(record, "counters", Counters)
    samples = document(record, "samples", Samples)
    print(counters.reason, counters.tool, counters.bytes, samples.reason, len(samples.instructions))
    if counters.reason.startswith("Nsight Compute is not installed"):
        pytest.skip(counters.reason)
    assert counters.reason == ""
    assert counters.bytes["dram"] > 0
    assert samples.reason == ""


@pytest.mark.parametrize("trouble", TROUBLES)
def test_after_trouble_the_next_run_works(services, request_of, vector_add, before, trouble):
    began = time.monotonic()
    record = services.queue.submit(request_of(TROUBLES[trouble], "check"))
    if trouble in ("hangs", "leaves children"):  # both would go on to the time limit
        stopper = threading.Timer(25, services.queue.cancel, (record.id,))
        stopper.start()
    list(services.queue.follow(record.id))
    ended = services.queue.find(record.id)
    print(f"{trouble}: {time.monotonic() - began:.1f} s: {said(ended)}")
    assert ended.status == "failed"
    assert said(ended)
    began = time.monotonic()
    assert_works(services, request_of(vector_add, "check", seed=hash(trouble) % 1000), before)
    print(f"the next run: {time.monotonic() - began:.1f} s")


def test_a_hang_ends_at_the_time_limit(request_of, vector_add, before, tmp_path):
    short = Services(
        Settings(data_dir=tmp_path, slots=1, gpu_wall_limit_seconds=20, recordings_dir=tmp_path),
        warm_up=False,
    )
    try:
        record = short.queue.complete(request_of(TROUBLES["hangs"], "check", attempt=7))
        assert "The time limit is 20 seconds" in said(record)
        assert_works(short, request_of(vector_add, "check", attempt=7), before)
    finally:
        short.close()


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_wall_stands(services, request_of, what):
    source, message = FORBIDDEN[what]
    record = services.queue.complete(request_of(HEAD + source, "check"))
    assert record.status == "failed"
    assert message in said(record)


LAUNCH = """
@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, 1.0)

kernel[(1,)](x)
"""


def test_what_a_job_leaves_in_memory_the_next_one_cannot_read(services, request_of):
    size = 1 << 31
    fill = f'x = torch.full(({size},), 12345.0, device="cuda")\n' + LAUNCH
    search = f'x = torch.empty({size}, device="cuda")\nprint(int((x == 12345.0).sum()))\n' + LAUNCH
    for number in range(2):
        filled = services.queue.complete(request_of(HEAD + fill, "time", attempt=number))
        assert filled.status == "complete", said(filled)
        searched = services.queue.complete(request_of(HEAD + search, "time", attempt=number))
        assert searched.status == "complete", said(searched)
        assert searched.result.logs["stdout"] == ["0\n"]


def test_a_running_job_is_cancelled_at_once(services, request_of, vector_add, before):
    record = services.queue.submit(request_of(TROUBLES["hangs"], "check", attempt=1))
    next(entry for entry in services.queue.follow(record.id) if isinstance(entry, Progress))
    began = time.monotonic()
    services.queue.cancel(record.id)
    list(services.queue.follow(record.id))
    assert time.monotonic() - began < 5
    assert_works(services, request_of(vector_add, "check", attempt=2), before)


def test_one_job_at_a_time_on_each_gpu(services, request_of, vector_add, before):
    jobs = [
        services.queue.submit(request_of(TROUBLES["hangs"], "check", attempt=10 + number))
        for number in range(len(GPUS) + 1)
    ]
    for job in jobs[:-1]:
        next(entry for entry in services.queue.follow(job.id) if isinstance(entry, Progress))
    assert services.queue.position(jobs[-1]) == 1
    for job in reversed(jobs):
        services.queue.cancel(job.id)
    assert_works(services, request_of(vector_add, "check", attempt=3), before)
