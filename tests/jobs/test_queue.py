"""The queue with the real sandbox and the real compiler; the store is a new one for each test."""

from dataclasses import replace
from threading import Thread

import pytest

from explorer.errors import NotFound, QueueFull, Unavailable
from explorer.jobs import Metrics, Queue, SandboxRunner
from explorer.model import Diagnostic, Done, Inspection, Request
from explorer.settings import Settings
from explorer.store import StageEntry, Store
from explorer.store.address import canonical_json, digest_of

STAGES = ["ast", "ttir", "ttgir", "llir", "ptx", "sass"]


class Desk:
    """A queue and what belongs to it."""

    def __init__(self, services, folder, **settings):
        self.settings = Settings(data_dir=folder, slots=1, **settings)
        self.sandbox = services.sandbox
        self.store = Store(self.settings)
        self.metrics = Metrics()
        self.queue = Queue(
            self.store, {"compile": [SandboxRunner(self.sandbox)]}, self.settings, self.metrics
        )

    def compiled(self):
        return sum(
            sample.value
            for metric in self.metrics.finished.collect()
            for sample in metric.samples
            if sample.name.endswith("_total")
        )

    def close(self):
        self.queue.close()
        self.store.close()


@pytest.fixture
def open_desk(services, tmp_path):
    desks = []

    def open_one(**settings):
        desks.append(Desk(services, tmp_path, **settings))
        return desks[-1]

    yield open_one
    for desk in desks:
        desk.close()


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
    """The first event says that the sandbox has it; an endless source sends none, so look at the status."""
    while desk.queue.find(record.id).status == "queued":
        pass


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
    assert message.message == "Cancelled."
    assert done.status == "failed"
    assert not desk.queue.find(record.id).is_final
    assert desk.queue.submit(endless_request).status in ("queued", "running")
    desk.queue.cancel(record.id)


def test_a_waiting_job_is_cancelled_at_once(desk, endless_request, request_):
    running = desk.queue.submit(endless_request)
    wait_until_running(desk, running)
    waiting = desk.queue.submit(request_)
    desk.queue.cancel(waiting.id)
    assert desk.queue.find(waiting.id).status == "failed"
    assert desk.queue.find(running.id).status == "running"
    desk.queue.cancel(running.id)


def test_a_full_queue_refuses(open_desk, endless_request):
    desk = open_desk(queue_limit=1)
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


def test_an_inspection_is_not_kept(desk, request_):
    record = desk.queue.ask(replace(request_, task="inspect"))
    assert isinstance(record.result.inspection, Inspection)
    assert [kernel.name for kernel in record.result.inspection.kernels] == ["add_kernel"]
    with pytest.raises(NotFound):
        desk.store.find(record.id)


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


def test_questions_leave_threads_for_others(open_desk, endless_request, request_):
    desk = open_desk(threads=8)
    inspection = replace(endless_request, task="inspect")
    waiting = Thread(target=lambda: desk.queue.ask(inspection))
    running = desk.queue.submit(endless_request)
    wait_until_running(desk, running)
    waiting.start()
    job = digest_of(canonical_json(inspection))
    while not is_known(desk, job):
        pass
    with pytest.raises(Unavailable, match="Too much is being looked at"):
        desk.queue.ask(replace(request_, task="inspect"))
    desk.queue.cancel(job)
    waiting.join()
    desk.queue.cancel(running.id)
    assert desk.queue.ask(replace(request_, task="inspect")).status == "complete"
