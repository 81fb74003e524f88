"""Test the queues with the real sandbox and compiler, and a new store on each database for each test."""

import time
from dataclasses import replace
from threading import Event, Semaphore, Thread

import pytest
from sqlalchemy import event

from explorer.errors import NotFound, QueueFull, StoreError, Unavailable
from explorer.jobs import LocalQueue, Metrics, Queue, QueueLimits, Runners, SandboxRunner, local
from explorer.jobs.caller import Caller, Urgency, work_for
from explorer.jobs.consumer import Consumer, Station
from explorer.jobs.distributed import DistributedQueue
from explorer.jobs.gpu_gate import NO_RULES
from explorer.jobs.worker_jobs import WorkerJobs
from explorer.jobs.worker_registry import WorkerRegistry
from explorer.model import Diagnostic, Done, Inspection, Request
from explorer.store import StageEntry, open_store
from explorer.store.address import canonical_json, digest_of
from explorer.store.leases import Leases
from explorer.store.sql import Store

STAGES = ["ast", "ttir", "ttgir", "llir", "ptx", "sass"]


#: A queue that does the jobs itself, on each database.
LOCAL = ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
#: Every implementation of `Queue`.
QUEUES = [*LOCAL, pytest.param("workers", marks=pytest.mark.slow)]


class Desk:
    """A queue with its store and sandbox. With the URL of a broker, a worker in threads does its jobs."""

    def __init__(self, services, folder, database_url, broker_url="", limit=50, waiting_threads=8):
        self.sandbox = services.sandbox
        self.store = open_store(folder, database_url)
        self.metrics = Metrics()
        self.workers = []
        self.queue: Queue
        limits = QueueLimits(limit, waiting_threads)
        if broker_url:
            workers = WorkerRegistry(self.store, "here")
            self.queue = DistributedQueue(self.store, workers, broker_url, self.metrics, limits)
            self.workers = [WorkerThread(self.sandbox, open_store(folder, database_url), broker_url)]
        else:
            runners: Runners = {"compile": [SandboxRunner(self.sandbox)]}
            self.queue = LocalQueue(self.store, runners, self.metrics, limits)

    def compiled(self):
        return sum(
            sample.value
            for metrics in (self.metrics, *(worker.metrics for worker in self.workers))
            for metric in metrics.finished.collect()
            for sample in metric.samples
            if sample.name.endswith("_total")
        )

    def close(self):
        self.queue.close()
        for worker in self.workers:
            worker.close()
        self.store.close()


class Statements:
    """Counts the SQL statements of a store."""

    def __init__(self, store):
        self.count = 0
        event.listen(store._database._engine, "before_cursor_execute", self._count)

    def _count(self, *_arguments):
        self.count += 1


class WorkerThread:
    """A worker with one slot."""

    def __init__(self, sandbox, store, broker_url):
        self.store = store
        self.metrics = Metrics()
        runner = SandboxRunner(sandbox)
        self.jobs = WorkerJobs(store, self.metrics, NO_RULES)
        queues = [f"compile:{version}" for version in sandbox.versions]
        self.station = Station(store, self.jobs, queues, [runner], 0)
        self.worker = Consumer(
            store,
            [self.station],
            broker_url,
            location="here",
            tier="full",
            gpus=(),
            problem=lambda _kind: runner.problem,
        )
        self.stopped = Event()
        self.thread = Thread(target=self.worker.run, args=(self.stopped,))
        self.thread.start()

    def close(self):
        self.stopped.set()
        self.thread.join()
        self.jobs.close()
        self.store.close()


@pytest.fixture(params=QUEUES)
def open_desk(services, tmp_path, request):
    desks = []
    urls = {"database_url": f"sqlite:///{tmp_path / 'explorer.sqlite'}"}
    if request.param != "sqlite":
        urls["database_url"] = request.getfixturevalue("postgresql").new_database()
    if request.param == "workers":
        urls["broker_url"] = request.getfixturevalue("rabbitmq").url

    def open_one(**limits):
        desks.append(Desk(services, tmp_path, **urls, **limits))
        return desks[-1]

    yield open_one
    work_for(Caller())
    for desk in desks:
        desk.close()


#: For tests of the differences of a queue that does the jobs itself.
does_jobs_itself = pytest.mark.parametrize("open_desk", LOCAL, indirect=True)


@pytest.fixture
def desk(open_desk):
    return open_desk()


@pytest.fixture
def request_(services, vector_add):
    return Request(vector_add, "cuda:90", services.versions[0])


@pytest.fixture
def endless_request(services, endless):
    return Request(endless, "cuda:90", services.versions[0])


def wait_until_running(desk, record):
    """Wait until the sandbox has the job. An endless source emits no event, so check the status."""
    while desk.queue.find(record.id).status == "queued":
        time.sleep(0.01)


def test_a_running_job_says_how_long_it_runs(desk, endless_request):
    record = desk.queue.submit(endless_request)
    wait_until_running(desk, record)
    before = desk.queue.find(record.id).running_seconds
    after = desk.queue.find(record.id).running_seconds
    assert 0 <= before < after
    desk.queue.cancel(record.id)
    for _ in desk.queue.follow(record.id):
        pass
    assert desk.queue.find(record.id).running_seconds is None


def test_identical_requests_at_once_compile_once(desk, request_):
    records = []
    threads = [
        Thread(target=lambda: records.append(desk.queue.complete(request_)), name=f"user-{number}")
        for number in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({record.id for record in records}) == 1
    assert {record.status for record in records} == {"complete"}
    assert all(list(record.result.stages) == STAGES for record in records)
    assert desk.compiled() == 1


def test_a_stored_result_is_not_compiled_again(open_desk, request_):
    first = open_desk()
    record = first.queue.complete(request_)
    first.close()
    second = open_desk()
    assert second.queue.submit(request_).entries == record.entries
    assert second.queue.find(record.id).is_final
    assert second.compiled() == 0


def test_whoever_comes_late_hears_everything(desk, request_):
    record = desk.queue.submit(request_)
    early = list(desk.queue.follow(record.id))
    late = list(desk.queue.follow(record.id))
    assert early == late
    assert isinstance(late[-1], Done)
    assert list(desk.queue.follow(record.id, skip=len(late) - 2)) == late[-2:]


def test_the_result_is_stored_before_the_last_event(desk, request_):
    record = desk.queue.submit(request_)
    for entry in desk.queue.follow(record.id):
        if isinstance(entry, StageEntry):
            assert desk.queue.find(record.id).read(entry.text)
        if isinstance(entry, Done):
            assert desk.store.find(record.id).is_final


def test_a_compile_error_is_a_result_too(desk, request_, vector_add):
    request = replace(request_, source=vector_add.replace("tl.arange(0, BLOCK_SIZE)", "tl.arange(0, 100)"))
    record = desk.queue.complete(request)
    assert record.status == "failed"
    assert record.is_final
    (error,) = [found for found in record.result.diagnostics if found.severity == "error"]
    assert "power of 2" in error.message
    assert error.line == 17
    assert "ast" in record.result.stages
    assert desk.queue.submit(request).is_final


def test_a_job_can_be_cancelled_and_tried_again(desk, endless_request):
    record = desk.queue.submit(endless_request)
    wait_until_running(desk, record)
    desk.queue.cancel(record.id)
    *_, message, done = desk.queue.follow(record.id)
    assert isinstance(message, Diagnostic)
    assert message.message == "Canceled."
    assert done.status == "failed"
    assert not desk.queue.find(record.id).is_final
    assert desk.queue.submit(endless_request).status in ("queued", "running")
    desk.queue.cancel(record.id)


def test_what_was_cancelled_waits_for_its_turn_when_it_is_tried_again(desk, endless_request):
    record = desk.queue.submit(endless_request)
    wait_until_running(desk, record)
    desk.queue.cancel(record.id)
    list(desk.queue.follow(record.id))
    other = desk.queue.submit(replace(endless_request, source=endless_request.source + "# other"))
    wait_until_running(desk, other)
    assert desk.queue.submit(endless_request).status == "queued"
    entries = []
    follower = Thread(target=lambda: entries.extend(desk.queue.follow(record.id)))
    follower.start()
    desk.queue.cancel(other.id)
    wait_until_running(desk, record)
    assert desk.queue.find(record.id).status == "running"
    assert follower.is_alive(), "the follower heard of the first execution"
    desk.queue.cancel(record.id)
    follower.join()
    assert len([entry for entry in entries if isinstance(entry, Done)]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("open_desk", ["workers"], indirect=True)
def test_a_worker_takes_a_job_again_only_when_it_is_done_with_it(desk, endless_request, monkeypatch):
    (worker,) = desk.workers
    worker.station.at_once = 2
    release = Leases.release
    ending, goes_on = Event(), Event()

    def release_late(leases, record_id, **options):
        if leases is worker.store.leases and not ending.is_set():  # the result is stored already
            ending.set()
            goes_on.wait(60)
        release(leases, record_id, **options)

    monkeypatch.setattr(Leases, "release", release_late)
    record = desk.queue.submit(endless_request)
    wait_until_running(desk, record)
    desk.queue.cancel(record.id)
    assert ending.wait(60)
    list(desk.queue.follow(record.id))
    desk.queue.submit(endless_request)
    for _ in range(3):
        worker.station.look()
    goes_on.set()
    wait_until_running(desk, record)
    assert desk.queue.find(record.id).status == "running"
    desk.queue.cancel(record.id)
    *_, message, _ = desk.queue.follow(record.id)
    assert message.message == "Canceled."


@does_jobs_itself
def test_the_end_of_a_job_stays_when_it_is_not_started_again(open_desk, endless_request):
    desk = open_desk(limit=1)
    record = desk.queue.submit(endless_request)
    wait_until_running(desk, record)
    desk.queue.cancel(record.id)
    list(desk.queue.follow(record.id))
    others = [replace(endless_request, source=endless_request.source + f"# {number}") for number in (1, 2)]
    running = desk.queue.submit(others[0])
    wait_until_running(desk, running)
    waiting = desk.queue.submit(others[1])
    with pytest.raises(QueueFull):
        desk.queue.submit(endless_request)
    assert desk.queue.find(record.id).status == "failed"
    assert desk.store.find(record.id).journal is not None
    for each in (waiting, running):
        desk.queue.cancel(each.id)


def test_a_waiting_job_is_cancelled_at_once(desk, endless_request, request_):
    running = desk.queue.submit(endless_request)
    wait_until_running(desk, running)
    waiting = desk.queue.submit(request_)
    desk.queue.cancel(waiting.id)
    assert desk.queue.find(waiting.id).status == "failed"
    assert desk.queue.find(running.id).status == "running"
    desk.queue.cancel(running.id)


def test_a_full_queue_refuses(open_desk, endless_request):
    desk = open_desk(limit=1)
    running = desk.queue.submit(endless_request)
    wait_until_running(desk, running)
    waiting = desk.queue.submit(replace(endless_request, source="pass"))
    with pytest.raises(QueueFull, match="1 jobs are waiting"):
        desk.queue.submit(replace(endless_request, source="pass # another"))
    assert desk.queue.submit(endless_request).id == running.id
    assert desk.queue.find(waiting.id).status == "queued"
    desk.queue.cancel(running.id)
    list(desk.queue.follow(waiting.id))
    assert desk.metrics.refused._value.get() == 1


@does_jobs_itself
def test_what_a_shutdown_interrupts_is_done_when_it_is_asked_for(open_desk, request_, endless_request):
    first = open_desk()
    running = first.queue.submit(endless_request)
    wait_until_running(first, running)
    waiting = first.queue.submit(request_)
    first.close()
    second = open_desk()
    assert second.store.find(waiting.id).status == "queued"
    assert second.store.find(running.id).status == "queued"
    list(second.queue.follow(waiting.id))
    assert second.queue.find(waiting.id).status == "complete"


def test_an_unknown_id_is_not_found(desk):
    with pytest.raises(NotFound):
        desk.queue.find("123456789ABC")


@does_jobs_itself
def test_an_inspection_is_not_kept(desk, request_):
    record = desk.queue.ask(replace(request_, task="inspect"))
    assert isinstance(record.result.inspection, Inspection)
    assert [kernel.name for kernel in record.result.inspection.kernels] == ["add_kernel"]
    with pytest.raises(NotFound):
        desk.store.find(record.id)


@does_jobs_itself
def test_a_triton_that_is_gone_is_a_failure_that_may_pass(desk, request_):
    record = desk.queue.complete(replace(request_, triton="1.0.0"))
    assert record.status == "failed"
    assert not record.is_final
    assert "1.0.0" in record.result.diagnostics[0].hint


def is_known(desk, job):
    try:
        return bool(desk.queue.find(job))
    except NotFound:
        return False


@does_jobs_itself
def test_questions_leave_threads_for_others(open_desk, endless_request, request_):
    desk = open_desk(waiting_threads=1)
    inspection = replace(endless_request, task="inspect")
    waiting = Thread(target=lambda: desk.queue.ask(inspection))
    running = desk.queue.submit(endless_request)
    wait_until_running(desk, running)
    waiting.start()
    job = digest_of(canonical_json(inspection))
    while not is_known(desk, job):
        time.sleep(0.01)
    with pytest.raises(Unavailable, match="compiler queries are waiting"):
        desk.queue.ask(replace(request_, task="inspect"))
    desk.queue.cancel(job)
    waiting.join()
    desk.queue.cancel(running.id)
    assert desk.queue.ask(replace(request_, task="inspect")).status == "complete"


def test_the_last_follower_cancels(desk, endless_request):
    for follower in ("one", "two"):
        work_for(Caller("here", follower))
        record = desk.queue.submit(endless_request)
    assert desk.queue.cancel(record.id) == 1
    assert desk.queue.find(record.id).status in ("queued", "running")
    work_for(Caller("here", "one"))
    end_stream = desk.queue.begin_stream(record.id)
    assert desk.queue.cancel(record.id) == 0
    assert list(desk.queue.follow(record.id))[-1].status == "failed"
    end_stream()


def test_who_ends_its_stream_follows_no_more(desk, endless_request):
    work_for(Caller("here", "one"))
    record = desk.queue.submit(endless_request)
    desk.queue.begin_stream(record.id)()
    work_for(Caller("here", "two"))
    end_streams = [desk.queue.begin_stream(record.id) for _ in range(2)]
    end_streams[0]()
    work_for(Caller("here", "three"))
    assert desk.queue.cancel(record.id) == 1
    end_streams[1]()
    assert desk.queue.cancel(record.id) == 0


def test_what_is_being_cancelled_is_started_again(desk, endless_request):
    record = desk.queue.submit(endless_request)
    wait_until_running(desk, record)
    desk.queue.cancel(record.id)
    again = desk.queue.submit(endless_request)
    assert again.id == record.id
    assert again.status == "queued"
    assert not [entry for entry in again.entries if isinstance(entry, Diagnostic)]
    desk.queue.cancel(record.id)


@does_jobs_itself
def test_what_is_cancelled_just_before_it_is_joined_is_started_again(desk, endless_request, monkeypatch):
    record = desk.queue.submit(endless_request)
    wait_until_running(desk, record)
    join_or_start = desk.queue._join_or_start

    def join_late(record, *arguments, **options):
        desk.queue.cancel(record.id)
        return join_or_start(record, *arguments, **options)

    monkeypatch.setattr(desk.queue, "_join_or_start", join_late)
    canceled = desk.queue.follow(record.id)
    desk.queue.submit(endless_request)
    monkeypatch.undo()
    assert list(canceled)[-1].status == "failed"
    assert desk.queue.find(record.id).status in ("queued", "running")
    desk.queue.cancel(record.id)


def test_a_refused_request_is_not_stored(open_desk, endless_request):
    desk = open_desk(limit=1)
    running = desk.queue.submit(endless_request)
    wait_until_running(desk, running)
    waiting = desk.queue.submit(replace(endless_request, source="pass"))
    refused = replace(endless_request, source="pass # another")
    with pytest.raises(QueueFull):
        desk.queue.submit(refused)
    assert desk.store.known(refused) is None
    assert desk.queue.position(desk.queue.find(waiting.id)) == 1
    assert desk.queue.position(desk.queue.find(running.id)) is None
    desk.queue.cancel(waiting.id)
    desk.queue.cancel(running.id)


def test_an_internal_error_is_told_to_whoever_looks_at_the_job(desk, endless_request, monkeypatch, caplog):
    begun: list[Request] = []

    def fail(_runner, request, _cancelled):
        begun.append(request)
        raise ZeroDivisionError

    monkeypatch.setattr(SandboxRunner, "run", fail)
    record = desk.queue.submit(endless_request)
    list(desk.queue.follow(record.id))
    for _ in range(3):  # a look does not start it again
        found = desk.queue.find(record.id)
        assert found.status == "failed"
        messages = [entry.message for entry in found.entries if isinstance(entry, Diagnostic)]
        assert messages[0] == "Internal error."
    assert len(begun) == 1
    assert "ZeroDivisionError" in caplog.text


def test_a_failure_to_store_is_told_to_whoever_looks_at_the_job(desk, request_, monkeypatch):
    with monkeypatch.context() as during:

        def fail(*_):
            raise StoreError("The S3 store answers 500.")

        during.setattr(Store, "finish", fail)
        record = desk.queue.submit(request_)
        *_, message, _ = desk.queue.follow(record.id)
        assert message.hint == "The S3 store answers 500."
    for found in (desk.queue.find(record.id), desk.store.find(record.id)):  # a look does not start it again
        assert (found.status, [entry.hint for entry in found.entries[:-1]]) == ("failed", [message.hint])
        assert not found.is_final
    assert desk.queue.complete(request_).status == "complete"
    assert desk.store.find(record.id).is_final


@does_jobs_itself
def test_a_request_is_refused_before_it_is_stored_or_not_at_all(open_desk, endless_request, monkeypatch):
    desk = open_desk(limit=1)
    running = desk.queue.submit(endless_request)
    wait_until_running(desk, running)
    join_or_start = desk.queue._join_or_start
    other = replace(endless_request, source="pass # of another thread")

    def join_late(record, *arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(desk.queue, "_join_or_start", join_or_start)
            with pytest.raises(QueueFull):  # the request that is stored already has the place
                desk.queue.submit(other)
        return join_or_start(record, *arguments, **options)

    monkeypatch.setattr(desk.queue, "_join_or_start", join_late)
    waiting = desk.queue.submit(replace(endless_request, source="pass"))
    monkeypatch.undo()
    assert desk.queue.position(waiting) == 1
    assert desk.store.known(other) is None
    desk.queue.cancel(waiting.id)
    desk.queue.cancel(running.id)


class Gone(Exception):
    pass


@pytest.mark.parametrize("way", ["ask", "complete"])
def test_a_wait_for_a_result_ends_when_nobody_wants_it(desk, endless_request, way):
    request = replace(endless_request, task="inspect") if way == "ask" else endless_request
    checks: list[int] = []

    def check():
        checks.append(len(checks))
        if len(checks) == 3:
            raise Gone

    with pytest.raises(Gone):
        getattr(desk.queue, way)(request, check)
    stored = desk.store.known(request)
    desk.queue.cancel(stored.id if stored else digest_of(canonical_json(request)))


def live(follower):
    return Caller("here", follower, Urgency.LIVE)


def test_a_live_job_ends_the_one_before_it(desk, endless_request):
    work_for(live("typist"))
    first = desk.queue.submit(endless_request)
    wait_until_running(desk, first)
    second = desk.queue.submit(replace(endless_request, source=f"{endless_request.source}# 2"))
    assert list(desk.queue.follow(first.id))[-1].status == "failed"
    assert desk.queue.find(second.id).status in ("queued", "running")
    assert desk.queue.submit(second.request).id == second.id, "the same source again ends nothing"
    assert desk.queue.find(second.id).status in ("queued", "running")
    desk.queue.cancel(second.id)


def test_a_live_job_that_others_follow_goes_on(desk, endless_request, request_):
    work_for(live("typist"))
    first = desk.queue.submit(endless_request)
    work_for(Caller("there", "reader"))
    desk.queue.submit(endless_request)
    work_for(live("typist"))
    second = desk.queue.submit(request_)
    assert desk.queue.find(first.id).status in ("queued", "running")
    desk.queue.cancel(second.id)
    work_for(Caller("there", "reader"))
    desk.queue.cancel(first.id)


def test_a_button_overtakes_live_jobs(desk, endless_request, request_):
    running = desk.queue.submit(endless_request)
    wait_until_running(desk, running)
    waiting = []
    for number in range(3):
        work_for(Caller(f"client {number}", f"typist {number}", Urgency.LIVE))
        waiting.append(desk.queue.submit(replace(endless_request, source=f"pass # {number}")))
    work_for(Caller("another", "reader"))
    pressed = desk.queue.submit(request_)
    assert desk.queue.position(pressed) == 1
    work_for(Caller("client 2", "typist 2"))
    again = desk.queue.submit(waiting[2].request)
    assert [desk.queue.position(desk.queue.find(each.id)) for each in (pressed, again, waiting[0])] == [
        1,
        2,
        3,
    ]
    work_for(Caller())
    desk.queue.cancel(running.id)
    for each in (pressed, *waiting):
        list(desk.queue.follow(each.id))


@pytest.mark.slow
@pytest.mark.parametrize("open_desk", ["workers"], indirect=True)
def test_a_compilation_by_a_worker_needs_few_statements(desk, request_):
    desk.queue.complete(request_)
    web, worker = Statements(desk.store), Statements(desk.workers[0].store)
    desk.queue.complete(replace(request_, source=f"{request_.source}\n# another"))
    assert worker.count <= 30
    assert web.count <= 35


@does_jobs_itself
def test_a_store_that_does_not_answer_does_not_end_the_renewal_of_leases(open_desk, monkeypatch):
    renewals = Semaphore(0)

    def fail(_store):
        renewals.release()
        raise StoreError("The database does not answer.")

    monkeypatch.setattr(local, "RENEWAL_SECONDS", 0.01)
    monkeypatch.setattr(Store, "renew_reservation", fail)
    open_desk()
    assert all(renewals.acquire(timeout=10) for _ in range(3))
