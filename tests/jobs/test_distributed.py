"""Web servers without a worker: jobs wait until their last follower on any of them cancels them."""

import time
from contextlib import ExitStack, closing
from dataclasses import replace
from threading import Event, Thread
from typing import cast

import msgspec
import pytest
from waiting import wait_for

from explorer import create_app
from explorer.jobs import Metrics
from explorer.jobs.caller import Caller, Urgency, work_for
from explorer.jobs.consumer import Station
from explorer.jobs.distributed import DistributedQueue
from explorer.jobs.runners import NoDevice
from explorer.jobs.shared_queue import QueueLimits
from explorer.jobs.worker_jobs import WorkerJobs
from explorer.jobs.worker_registry import WorkerDocument, WorkerRegistry
from explorer.matrix import Configuration, Matrix
from explorer.model import Done, Request
from explorer.services import services_of
from explorer.settings import Settings
from explorer.store import NewJob, open_store
from explorer.store.job_table import JobTable

pytestmark = pytest.mark.slow

REQUEST = Request("source", "cuda:90", "3.9.0")
#: No broker listens there: jobs wait in the database.
NO_BROKER = "amqp://127.0.0.1:1//"
_WAIT_SECONDS = 30


@pytest.fixture
def queues(tmp_path, postgresql):
    url = postgresql.new_database()
    with ExitStack() as opened:
        found = []
        for _ in range(2):
            store = opened.enter_context(closing(open_store(tmp_path, url)))
            limits = QueueLimits(waiting_jobs=10, waiting_threads=1)
            queue = DistributedQueue(store, WorkerRegistry(store, "here"), NO_BROKER, Metrics(), limits)
            found.append(opened.enter_context(closing(queue)))
        yield found
        work_for(Caller())


def as_(follower, urgency=Urgency.INTERACTIVE):
    work_for(Caller("client", follower, urgency))


def test_a_server_that_is_not_notified_answers_what_is_stored(queues, monkeypatch):
    first, second = queues
    monkeypatch.setattr(second._remote_jobs, "_listen", lambda: None)
    as_("reader")
    record = first.submit(REQUEST)
    assert second.find(record.id).status == "queued"
    batch = first._store.batch(record.id)
    first._store.finish(record.id, [Done("failed", 1.0)], batch)
    batch.discard()
    assert second.find(record.id).status == "failed"
    assert [entry.status for entry in second.log(record.id).entries()] == ["failed"]


def cancel(queue, record, follower):
    as_(follower)
    return queue.cancel(record.id)


def is_canceled(queue, record):
    entries = tuple(queue.log(record.id).follow(0, 1.0))
    return entries[-1].is_transient


def test_a_job_that_was_submitted_on_two_servers_is_left_on_either(queues):
    first, second = queues
    as_("one")
    record = first.submit(REQUEST)
    as_("two")
    assert second.submit(REQUEST).id == record.id
    assert cancel(first, record, "one") == 1
    assert second.position(second.find(record.id)) == 1, "it waits on"
    assert cancel(first, record, "two") == 0
    assert is_canceled(second, record)


def test_a_job_whose_events_are_read_on_another_server_goes_on_until_that_ends(queues):
    first, second = queues
    as_("one")
    record = first.submit(REQUEST)
    as_("reader")
    second.find(record.id)
    end_stream = second.begin_stream(record.id)
    assert cancel(first, record, "one") == 1
    end_stream()
    assert cancel(second, record, "stranger") == 0, "the server knows at once what it has ended itself"
    assert is_canceled(second, record)


def test_the_end_of_a_stream_is_known_to_other_servers(queues):
    first, second = queues
    as_("one")
    record = first.submit(REQUEST)
    as_("reader")
    second.find(record.id)
    second.begin_stream(record.id)()
    wait_for(lambda: not cancel(first, record, "one"))
    assert is_canceled(second, record)


def test_typing_ends_the_live_job_that_another_server_was_asked_for(queues):
    first, second = queues
    as_("page", Urgency.LIVE)
    record = first.submit(REQUEST)
    second.submit(replace(REQUEST, source="more"))
    assert is_canceled(first, record)


def test_a_matrix_follows_the_slots_of_the_workers(tmp_path, postgresql):
    settings = Settings(
        data_dir=tmp_path, database_url=postgresql.new_database(), broker_url=NO_BROKER, slots=1
    )
    with closing(services_of(create_app(settings))) as services:

        def announce(slots):
            document = msgspec.json.encode(WorkerDocument(("compile:3.9.0",), {"compile": slots}, "full"))
            services.store.processes.announce("worker", "elsewhere", document, is_worker=True)

        def wait_for_jobs(count):
            wait_for(lambda: services.store.jobs.counts() == {"compile:3.9.0": (count, 0)})

        announce(3)
        targets = ("cuda:75", "cuda:80", "cuda:86", "cuda:89", "cuda:90", "cuda:100", "cuda:120")
        matrix = Matrix(REQUEST, (Configuration(),), targets, (REQUEST.triton,))
        as_("page")
        services.matrices.start("matrix", matrix.cells)
        wait_for_jobs(3 + 1)
        announce(5)
        wait_for_jobs(5 + 1)
    work_for(Caller())


class StubRunner(NoDevice):
    """A runner whose jobs no test runs. It comes into service when it `is_repaired`."""

    def __init__(self, problem=None):
        super().__init__(problem)
        self.is_repaired = False

    def settle(self, closed):
        if self.is_repaired:
            self.problem = None


class BusyJobs:
    """The jobs of a worker, which end when the test says so."""

    def __init__(self):
        self.begun = []
        self.may_end = Event()

    def in_flight(self):
        return []

    def perform(self, record, _runner):
        self.begun.append(record.id)
        self.may_end.wait(60)
        return False


def test_jobs_wait_while_the_runner_of_their_worker_is_out_of_service(tmp_path, postgresql):
    runner, jobs = StubRunner("The GPU is away."), BusyJobs()
    jobs.may_end.set()
    with closing(open_store(tmp_path, postgresql.new_database())) as store:
        job = NewJob("compile:3.9.0", "one", Urgency.INTERACTIVE, lambda _: None)
        record = store.submit(REQUEST, "one", job=job)
        station = Station(store, cast("WorkerJobs", jobs), ["compile:3.9.0"], [runner], reserve=0)
        for _ in range(2):
            station.look()
            time.sleep(0.1)
        assert not jobs.begun
        assert store.jobs.queue(record.id) == "compile:3.9.0"
        runner.is_repaired = True
        deadline = time.monotonic() + _WAIT_SECONDS
        while not jobs.begun:
            assert time.monotonic() < deadline
            station.look()
            time.sleep(0.05)
        assert jobs.begun == [record.id]


def test_a_worker_takes_one_job_of_a_client_for_its_slot_and_its_reserve(tmp_path, postgresql, monkeypatch):
    url = postgresql.new_database()
    reserve_has_taken = Event()
    take = JobTable.take

    def take_late(jobs, queues, in_flight, *, is_of_reserve):
        if not is_of_reserve:  # meanwhile, the reserve is asked
            reserve_has_taken.wait(0.5)
        taken = take(jobs, queues, in_flight, is_of_reserve=is_of_reserve)
        if is_of_reserve:
            reserve_has_taken.set()
        return taken

    monkeypatch.setattr(JobTable, "take", take_late)
    jobs = BusyJobs()
    runner = StubRunner()
    with closing(open_store(tmp_path, url)) as page, closing(open_store(tmp_path, url)) as worker:
        for number in range(2):
            job = NewJob("compile:3.9.0", "one", Urgency.INTERACTIVE, lambda _: None)
            page.submit(replace(REQUEST, source=f"source {number}"), "one", job=job)
        station = Station(worker, cast("WorkerJobs", jobs), ["compile:3.9.0"], [runner] * 2, reserve=1)
        threads = [Thread(target=station.work) for _ in range(2)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(jobs.begun) == 2 or not all(thread.is_alive() for thread in threads))
        jobs.may_end.set()
        for thread in threads:
            thread.join()
    assert len(jobs.begun) == 1
