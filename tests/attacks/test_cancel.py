"""Test that nobody can cancel the job of somebody else."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def shared(request, endless):
    """The source of an endless job that other tests do not share."""
    return f"{endless}# {request.node.name}\n"


def status_of(client, ticket):
    return client.document(ticket)["status"]


def wait_for_end(client, ticket):
    """Return the last diagnostic of a job when it has ended."""
    client.ask("GET", ticket["events"])
    document = client.document(ticket)
    assert document["status"] == "failed"
    return document["diagnostics"][-1]["message"]


def test_the_last_of_two_clients_cancels(server, shared):
    one, two = server.client(2), server.client(3)
    ticket = one.submit(shared).document
    assert two.submit(shared).document["id"] == ticket["id"]
    answer = one.ask("DELETE", ticket["api"])
    assert (answer.status, answer.document) == (202, {"followers": 1})
    assert one.ask("DELETE", ticket["api"]).status == 202
    assert status_of(two, ticket) in ("queued", "running")
    assert two.ask("DELETE", ticket["api"]).status == 204
    assert wait_for_end(two, ticket) == "Canceled."


def test_two_tabs_of_a_browser_are_two_followers(server, shared):
    client = server.client(2)
    ticket = client.submit(shared, "first").document
    client.submit(shared, "second")
    assert client.ask("DELETE", ticket["api"] + "?follower=first").status == 202
    assert status_of(client, ticket) in ("queued", "running")
    assert client.ask("DELETE", ticket["api"] + "?follower=second").status == 204
    assert wait_for_end(client, ticket) == "Canceled."


def test_who_reads_the_events_is_a_follower(server, shared):
    one, two, stranger = server.client(2), server.client(3), server.client(4)
    ticket = one.submit(shared).document
    two.connection.request("GET", ticket["events"])
    stream = two.connection.getresponse()
    assert stream.readline() == b": connected\n"  # the job ends before this connection is used again
    assert stranger.ask("DELETE", ticket["api"]).status == 202
    assert one.ask("DELETE", ticket["api"]).status == 202
    assert status_of(one, ticket) in ("queued", "running")
    reader = threading.Thread(target=stream.read)
    reader.start()
    assert server.client(3).ask("DELETE", ticket["api"]).status == 204
    reader.join(300)
    assert not reader.is_alive()
    assert wait_for_end(one, ticket) == "Canceled."


def test_the_slot_of_a_cancelled_job_is_free(server, shared, vector_add):
    client = server.client(2)
    ticket = client.submit(shared).document
    assert client.ask("DELETE", ticket["api"]).status == 204
    status, seconds = client.compile(f"{vector_add}# after it\n")
    assert status == "complete"
    assert seconds < 300  # the endless job would take 600 seconds


def test_a_storm_of_cancellations_stops_nobody(server, shared, vector_add):
    """One client cancels a job of another, a finished one and unknown ones, without a pause."""
    honest = server.client(3)
    assert honest.compile(f"{vector_add}# before\n")[0] == "complete"
    finished = honest.submit(f"{vector_add}# before\n").document
    running = honest.submit(shared).document
    unknown = finished["api"].replace(finished["id"], "123456789ABC")
    is_served = threading.Event()

    def storm():
        attacker, statuses = server.client(2), list[int]()
        until = time.monotonic() + 120
        while (not is_served.is_set() or len(statuses) < 30) and time.monotonic() < until:
            addresses = (finished["api"], running["api"], unknown)
            statuses += [attacker.ask("DELETE", address).status for address in addresses]
        return statuses

    with ThreadPoolExecutor(8) as threads:
        storms = [threads.submit(storm) for _ in range(8)]
        try:
            for _ in range(50):
                assert honest.document(finished)["status"] == "complete"
            assert status_of(honest, running) in ("queued", "running")
            assert honest.ask("DELETE", running["api"]).status == 204
            assert honest.compile(f"{vector_add}# meanwhile\n")[0] == "complete"
        finally:
            is_served.set()
        statuses = [status for each in storms for status in each.result()]
    assert len(statuses) >= 8 * 30
    assert set(statuses) <= {202, 204, 404, 429}
