"""Test how jobs are accepted: without delaying other requests, and so that each accepted job ends."""

from contextlib import ExitStack, closing
from threading import Thread

import pytest

from explorer.jobs import Metrics, QueueLimits
from explorer.jobs.caller import Caller, work_for
from explorer.jobs.consumer import Station
from explorer.jobs.distributed import DistributedQueue
from explorer.jobs.gpu_gate import GpuRules
from explorer.jobs.rates import Rates
from explorer.jobs.runners import NoDevice
from explorer.jobs.worker_jobs import WorkerJobs
from explorer.jobs.worker_registry import WorkerRegistry
from explorer.model import Request, Run
from explorer.store import NewJob, open_store

CLIENT = "192.0.2.1"
GPU_QUEUE = "gpu:nvidia-a100:3.9.0"
ON_GPU = Request("", "cuda:80", "3.9.0", task="run", run=Run("gpu"))


def admit_all(waiting):
    """Refuse no job."""


@pytest.fixture
def closed_at_end():
    with ExitStack() as stack:
        yield lambda each: stack.enter_context(closing(each))
    work_for(Caller())


@pytest.mark.nightly
@pytest.mark.slow
def test_a_redis_that_stalls_delays_only_who_is_counted(
    closed_at_end, tmp_path, postgresql, rabbitmq, redis, monkeypatch
):
    monkeypatch.setattr("explorer.jobs.rates._REDIS_SECONDS", 10.0)
    url = postgresql.new_database()
    one, other = (closed_at_end(open_store(tmp_path, url)) for _ in range(2))
    limits = QueueLimits(50, 8, Rates({"compilations": 5}, redis.url))
    queue = closed_at_end(DistributedQueue(one, WorkerRegistry(one, "here"), rabbitmq.url, Metrics(), limits))
    accepted = []

    def submit():
        work_for(Caller(CLIENT))
        accepted.append(queue.submit(Request("counted", "cuda:90", "3.9.0")))

    redis.stall()
    waiting = Thread(target=submit)
    try:
        waiting.start()
        for number in range(10):  # a lock that is held for 5 seconds would be an error
            job = NewJob("compile:3.9.0", "192.0.2.2", 0, admit_all)
            other.submit(Request(f"not counted {number}", "cuda:90", "3.9.0"), job=job)
        assert waiting.is_alive(), "Redis has not answered"
    finally:
        redis.resume()
        waiting.join()
    assert accepted


def gpu_jobs(store):
    """The jobs of a worker of a machine whose clients have used their time on GPUs."""
    store.gpu_time.add(CLIENT, 10.0)
    return WorkerJobs(store, Metrics(), GpuRules(day_seconds=5.0))


def messages(record):
    return [(entry.message, entry.hint) for entry in record.entries[:-1]]


@pytest.mark.slow
def test_a_job_that_was_accepted_before_its_client_used_up_its_time_ends(closed_at_end, tmp_path, postgresql):
    store = closed_at_end(open_store(tmp_path, postgresql.new_database()))
    accepted = store.submit(ON_GPU, CLIENT, job=NewJob(GPU_QUEUE, CLIENT, 0, admit_all))
    jobs = closed_at_end(gpu_jobs(store))
    runner = NoDevice("The GPU is asked.")
    runner.problem = None
    assert Station(store, jobs, [GPU_QUEUE], [runner], 0).work()
    record = store.find(accepted.id)
    assert record.is_finished
    ((message, hint),) = messages(record)
    assert "10 seconds on GPUs today" in hint, message
