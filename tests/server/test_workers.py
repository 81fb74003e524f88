"""A page without a sandbox, and workers that do its jobs: with each broker, and with processes that fail."""

import os
import subprocess
import sys
import time
import urllib.request
from contextlib import ExitStack, closing

import pytest
from conftest import VECTOR_ADD
from kombu import Connection
from processes import named
from prometheus_client.parser import text_string_to_metric_families
from served import Server, Worker
from slow_jobs import events, submit, until_stage, wait_for_status
from waiting import wait_for

from explorer.jobs.broker import Sender
from explorer.jobs.worker_registry import queue_name
from explorer.store import open_store

pytestmark = pytest.mark.slow

ONLY_NEWEST = "compile:3.9.0"
ONLY_OLDEST = "compile:3.6.0"


class Cluster:
    """A page, and as many workers as a test starts."""

    def __init__(self, folder, database_url, broker_url):
        self.broker_url = broker_url
        self.settings = {"database_url": database_url, "broker_url": broker_url}
        self.folder = folder
        self._running = ExitStack()
        self.page = self._running.enter_context(closing(Server(folder, tritons="", **self.settings)))

    def start_worker(self, *arguments, tritons="3.9.0"):
        """Start a worker with one or several versions of Triton, and wait until the page knows it."""
        worker = Worker(self.folder, *arguments, tritons=tritons, **self.settings)
        self._running.enter_context(closing(worker))
        wait_for(lambda: set(worker.queues) <= set(self.queues))
        return worker

    @property
    def queues(self):
        """How many workers live, by queue."""
        return self.page.client().ask("GET", "/healthz").document["workers"]

    def close(self):
        self._running.close()


def receivers(rabbitmq):
    """Return how many workers wait for messages of the queue of the newest version."""
    with Connection(rabbitmq.url) as connection:
        queue = connection.default_channel.queue_declare(f"triton-explorer.{ONLY_NEWEST}", passive=True)
        return queue.consumer_count


@pytest.fixture
def start_cluster(tmp_path, postgresql):
    with ExitStack() as running:
        yield lambda broker: running.enter_context(
            closing(Cluster(tmp_path, postgresql.new_database(), broker.url))
        )


@pytest.fixture
def cluster(start_cluster, rabbitmq):
    return start_cluster(rabbitmq)


def numbers_and_stages(seen):
    assert [number for number, *_ in seen] == list(range(1, len(seen) + 1))
    names = [document["name"] for _, kind, document in seen if kind == "stage"]
    assert len(names) == len(set(names))
    return names


@pytest.mark.parametrize(
    "broker", ["rabbitmq", pytest.param("redis", marks=pytest.mark.nightly)], indirect=True
)
def test_a_stage_arrives_while_the_job_runs_on_a_worker_with_metrics(start_cluster, broker):
    cluster = start_cluster(broker)
    page = cluster.page
    refused = page.client().submit(VECTOR_ADD)
    assert (refused.status, refused.document["kind"]) == (503, "unavailable"), "there is no worker yet"
    worker = cluster.start_worker("--queues", "compile", "--metrics-port", "0")
    assert not named(page.family(), "bwrap")
    ticket = submit(page, 3, "on a worker")
    begun = until_stage(page, ticket)
    assert page.client().document(ticket)["status"] == "running"
    rest = list(events(page, ticket, last=begun[-1][0]))
    assert rest[-1][1:] == ("done", rest[-1][2])
    assert rest[-1][2]["status"] == "complete"
    assert numbers_and_stages(begun + rest)[-1] == "sass"
    assert begun + rest == list(events(page, ticket))

    inspected = page.client().ask("POST", "/api/v1/inspect", {"source": VECTOR_ADD, "target": "cuda:90"})
    assert [kernel["name"] for kernel in inspected.document["kernels"]] == ["add_kernel"]
    compiled = page.client().submit(VECTOR_ADD).document
    wait_for_status(page, compiled, "complete")
    assert page.client().ask("GET", f"{compiled['api']}/layouts").status == 200, "a compiler query"

    with urllib.request.urlopen(worker.process.stdout.readline().split()[-1]) as answer:
        families = {each.name: each for each in text_string_to_metric_families(answer.read().decode())}
    slots = families["triton_explorer_slots"].samples
    assert sum(each.value for each in slots if each.labels["triton"] == "3.9.0") >= 1
    assert any(each.labels["stage"] == "sass" for each in families["triton_explorer_stage_seconds"].samples)
    assert families["process_cpu_seconds"].samples
    assert "triton_explorer_jobs_waiting" not in families, "web servers show the queue"

    running, waiting = submit(page, 60, "running"), submit(page, 60, "waiting")
    until_stage(page, running)
    for each in (waiting, running):
        begin = time.monotonic()
        assert page.client().ask("DELETE", f"{each['api']}?follower=page").status == 204
        *_, message, done = events(page, each)
        assert (message[2]["message"], done[2]["status"]) == ("Canceled.", "failed")
        assert time.monotonic() - begin < 3, "it ends when it is canceled, not at the next beat"


@pytest.mark.nightly
def test_what_is_delivered_again_or_never_does_no_harm(cluster, rabbitmq):
    page = cluster.page
    for _ in range(2):
        cluster.start_worker("--queues", ONLY_NEWEST)
    with closing(Sender(cluster.broker_url)) as sender:
        ticket = submit(page, 2, "delivered again")
        begun = until_stage(page, ticket)
        for _ in range(3):
            sender.send(queue_name("compile", "3.9.0"), ticket["id"])
        rest = list(events(page, ticket, last=begun[-1][0]))
        numbers_and_stages(begun + rest)
        document = page.client().document(ticket)
        for _ in range(3):
            sender.send(queue_name("compile", "3.9.0"), ticket["id"])
    status, _ = page.client().compile(f"{VECTOR_ADD}# behind the messages")
    assert status == "complete"
    assert page.client().document(ticket) == document

    rabbitmq.stop()
    try:
        status, _ = page.client().compile(f"{VECTOR_ADD}# without the broker")
        assert status == "complete"
    finally:
        rabbitmq.start()
    wait_for(lambda: receivers(rabbitmq) == 2)
    status, _ = page.client().compile(f"{VECTOR_ADD}# with the broker again")
    assert status == "complete"


@pytest.mark.nightly
def test_a_job_of_a_worker_that_was_killed_or_stops_goes_on_elsewhere(cluster):
    page = cluster.page
    first = cluster.start_worker("--queues", ONLY_NEWEST)
    killed = submit(page, 3, "of a killed worker")
    stream = events(page, killed)
    seen = [next(stream)]
    while seen[-1][1] != "stage":
        seen.append(next(stream))
    second = cluster.start_worker("--queues", ONLY_NEWEST)
    first.kill()
    seen += stream
    assert (seen[-1][1], seen[-1][2]["status"]) == ("done", "complete")
    assert numbers_and_stages(seen)[-1] == "sass"

    given_back = submit(page, 3, "of a worker that stops")
    until_stage(page, given_back)
    with closing(open_store(cluster.folder, cluster.settings["database_url"])) as store:
        begin = time.monotonic()
        second.process.terminate()
        wait_for(lambda: store.leases.published(given_back["id"])[0] is None)
        assert time.monotonic() - begin < 10, "its lease need not expire"
    cluster.start_worker("--queues", ONLY_NEWEST)
    wait_for_status(page, given_back, "complete")


@pytest.mark.nightly
def test_a_job_that_is_canceled_after_its_worker_was_killed_is_not_done_elsewhere(cluster):
    page = cluster.page
    worker = cluster.start_worker("--queues", ONLY_NEWEST)
    canceled = submit(page, 50, "of a killed worker")
    until_stage(page, canceled)
    worker.kill()
    assert page.client().ask("DELETE", f"{canceled['api']}?follower=page").status == 204
    cluster.start_worker("--queues", ONLY_NEWEST)
    wait_for_status(page, canceled, "failed")
    messages = [document["message"] for _, kind, document in events(page, canceled) if kind == "diagnostic"]
    assert messages == ["Canceled."]


@pytest.mark.nightly
def test_versions_of_triton_never_cross(cluster):
    page = cluster.page
    oldest = cluster.start_worker("--queues", ONLY_OLDEST, tritons="3.9.0, 3.6.0")
    newest = cluster.start_worker()
    assert oldest.queues == [ONLY_OLDEST]
    assert ONLY_NEWEST in newest.queues
    assert ONLY_OLDEST not in newest.queues
    oldest.close()
    wait_for(lambda: ONLY_OLDEST not in cluster.queues)
    waiting = submit(page, 0, "with the oldest", triton="3.6.0")
    done = submit(page, 0, "with the newest", triton="3.9.0")
    wait_for_status(page, done, "complete")
    document = page.client().document(waiting)
    assert (document["status"], document["queue_position"]) == ("queued", 1)
    assert document["waits_for"] == "no worker for compilations with Triton 3.6.0 is running"
    unknown = {"source": VECTOR_ADD, "target": "cuda:90", "triton": "3.7.0"}
    assert page.client().ask("POST", "/api/v1/compilations", unknown).status == 400
    newest.close()
    cluster.start_worker("--queues", ONLY_OLDEST, tritons="3.6.0")
    wait_for_status(page, waiting, "complete")
    assert page.client().document(waiting)["triton"] == "3.6.0"


def test_a_worker_without_a_version_does_not_start(cluster):
    settings = {**cluster.settings, "tritons": "0.1"}
    variables = {f"TRITON_EXPLORER_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "explorer", "worker", "--data-dir", str(cluster.folder)]
    ended = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "TRITON_EXPLORER_TRITONS is '0.1'" in ended.stderr
    assert "Traceback" not in ended.stderr
