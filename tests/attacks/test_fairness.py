"""Test that a client that asks for too much delays no other client."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
from forms import open_store_of
from processes import ask_each
from served import Server
from waiting import wait_for

from explorer.model import Request

pytestmark = pytest.mark.slow

#: Seconds that other work on a busy machine may add to a time. A first-come queue adds 25 or more.
NOISE_SECONDS = 8.0
#: Takes a slot, but no processor.
SLEEP = "import time\ntime.sleep(1)  # {}\n"
SLOW = "import time\ntime.sleep(2)  # {}\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("data"), slots=1, wall_limit_seconds=15)
    yield server
    server.kill()


def seconds_of(client, vector_add, name):
    """Return how long the compilation of a new source takes."""
    status, seconds = client.compile(f"{vector_add}# {name}\n")
    assert status == "complete"
    return seconds


def refusals(answers):
    return [answer for answer in answers if answer.status not in (200, 202)]


@pytest.mark.nightly
def test_further_jobs_of_a_client_yield_the_processor(tmp_path, endless):
    """Two jobs of one client and one of another: one of the three has a lower priority."""
    server = Server(tmp_path, slots=2, wall_limit_seconds=300, cpu_limit_seconds=300)
    try:
        usual = psutil.Process(server.process.pid).nice()
        flooding, honest = server.client(2), server.client(1)
        for client, number in ((flooding, 1), (flooding, 2), (honest, 3)):
            ticket = client.submit(f"{endless}# {number}").document
            while client.document(ticket)["status"] == "queued":
                time.sleep(0.05)

        def lower():
            """Count the processes with a lower priority: a warden and its worker."""
            return sum(nice > usual for _, nice in ask_each(server.family(), psutil.Process.nice))

        wait_for(lambda: lower() == 2)
    finally:
        server.kill()


@pytest.mark.nightly
def test_slow_inspections_delay_no_other_client(server, vector_add):
    begun = threading.Barrier(13)

    def inspect(number):
        attacker = server.client(2)
        begun.wait()
        return attacker.ask("POST", "/api/v1/inspect", {"source": SLOW.format(number)})

    with ThreadPoolExecutor(12) as threads:
        slow = [threads.submit(inspect, number) for number in range(12)]
        honest = server.client(1)
        begun.wait()
        time.sleep(1)  # until they have arrived
        answer = honest.ask("POST", "/api/v1/inspect", {"source": vector_add})
        assert answer.status == 200
        assert [kernel["name"] for kernel in answer.document["kernels"]] == ["add_kernel"]
        assert seconds_of(honest, vector_add, "beside") > 0
        # Each has waited for one slow inspection at most. Eight are accepted, one or two at a time.
        assert not all(each.done() for each in slow)
        statuses = [each.result().status for each in slow]
    assert statuses.count(429) >= 4
    assert set(statuses) <= {200, 429}


def test_interactive_jobs_overtake_a_batch(server, vector_add):
    client = server.client(1)
    batch = [client.submit(SLEEP.format(number), Priority="u=5") for number in range(12)]
    interactive = client.submit(vector_add)
    assert refusals([*batch, interactive]) == []
    assert client.document(interactive.document)["queue_position"] in (None, 1)
    last = client.document(batch[-1].document)
    assert last["queue_position"] >= 8
    client.ask("GET", interactive.document["events"])
    assert client.document(interactive.document)["status"] == "complete"
    assert client.document(batch[-1].document)["status"] == "queued"


@pytest.mark.nightly
def test_an_honest_user_is_never_refused(server):
    """Four pages compile seven configurations each, two of them at the same time."""

    def page(number):
        client, answers = server.client(1), []
        for configuration in range(7):
            answers.append(client.submit(f"x = {number}, {configuration}\n", Priority="u=5"))
            client.ask("GET", answers[-1].document["events"])
        return answers

    with ThreadPoolExecutor(8) as threads:
        answers = [answer for each in threads.map(page, range(8)) for answer in each]
    assert refusals(answers) == []
    assert len(answers) == 56


def test_a_flood_delays_no_other_client(server, vector_add):
    honest = server.client(1)
    alone = min(seconds_of(honest, vector_add, f"alone {number}") for number in range(2))
    is_full = threading.Event()

    def flood(first):
        attacker, answers = server.client(2), []
        for number in range(first, first + 50):
            answers.append(attacker.submit(SLEEP.format(number)))
            if answers[-1].status >= 400:
                is_full.set()
        return answers

    with ThreadPoolExecutor(8) as threads:
        floods = [threads.submit(flood, first) for first in range(0, 400, 50)]
        assert is_full.wait(60)
        meanwhile = min(seconds_of(honest, vector_add, f"meanwhile {number}") for number in range(2))
        answers = [answer for each in floods for answer in each.result()]
    after = seconds_of(honest, vector_add, "after")

    assert meanwhile < alone + NOISE_SECONDS
    assert after < alone + NOISE_SECONDS
    refused = refusals(answers)
    assert {answer.status for answer in refused} == {429}
    assert {answer.headers["Retry-After"] for answer in refused} == {"5"}
    assert len(refused) > 200
    store = open_store_of(server.folder)
    stored = [store.known(Request(SLEEP.format(number), "cuda:90", "3.9.0")) for number in range(400)]
    store.close()
    assert len(stored) - stored.count(None) == 400 - len(refused)  # refused requests are not stored
