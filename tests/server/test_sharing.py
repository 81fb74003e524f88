"""Two servers with one database of PostgreSQL and one data folder share their jobs."""

import json
import time
import urllib.request
from contextlib import ExitStack, closing

import pytest
from served import Server

pytestmark = pytest.mark.slow

#: A kernel that keeps the compiler waiting between its stages `ast` and `ttir`.
SLOW = """
import time
import triton
import triton.language as tl

@tl.core.builtin
def wait(_semantic=None):
    time.sleep({seconds})
    return tl.constexpr(1)

@triton.jit
def kernel(x):
    tl.store(x, wait())  # {name}
"""
WAIT_SECONDS = 60


@pytest.fixture(scope="module")
def start(tmp_path_factory, postgresql):
    """Return a function that starts one more server."""
    folder, url = tmp_path_factory.mktemp("data"), postgresql.new_database()
    with ExitStack() as servers:
        yield lambda: servers.enter_context(closing(Server(folder, database_url=url)))


@pytest.fixture(scope="module")
def servers(start):
    return start(), start()


def submit(server, seconds, name):
    body = {"source": SLOW.format(seconds=seconds, name=name), "target": "cuda:90", "arguments": "*fp32:16"}
    answer = server.client().ask("POST", "/api/v1/compilations?follower=page", body)
    assert answer.status == 202, answer
    return answer.document


def events(server, ticket, last=0):
    """Yield the number, the kind and the document of each event, as it arrives."""
    request = urllib.request.Request(server.url + ticket["events"], headers={"Last-Event-ID": str(last)})
    with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as response:
        number, kind = 0, ""
        for line in response:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "id":
                number = int(value)
            elif name == "event":
                kind = value
            elif name == "data":
                yield number, kind, json.loads(value)


def until_stage(server, ticket):
    """Return the events up to the first stage, which arrives while the job runs."""
    seen = []
    for event in events(server, ticket):
        seen.append(event)
        if event[1] == "stage":
            return seen
    raise AssertionError(f"the stream ended without a stage: {seen}")


def wait_for_status(server, ticket, status):
    deadline = time.monotonic() + WAIT_SECONDS
    while (found := server.client().document(ticket)["status"]) != status:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def test_a_job_of_one_server_is_followed_on_the_other(servers):
    first, second = servers
    ticket = submit(first, 4, "followed")
    begun = until_stage(second, ticket)
    assert first.client().document(ticket)["status"] == "running"
    assert second.client().document(ticket)["status"] == "running"
    assert submit(second, 4, "followed")["id"] == ticket["id"]
    assert second.client().ask("GET", begun[-1][2]["url"]).status == 200
    rest = list(events(second, ticket, last=begun[-1][0]))
    assert rest[-1][1] == "done"
    assert begun + rest == list(events(first, ticket))
    assert [number for number, *_ in begun + rest] == list(range(1, len(begun + rest) + 1))


def test_a_job_of_one_server_is_cancelled_on_the_other(servers):
    first, second = servers
    ticket = submit(first, 25, "canceled")
    until_stage(second, ticket)
    assert second.client().ask("DELETE", f"{ticket['api']}?follower=page").status == 204
    wait_for_status(first, ticket, "failed")
    *_, message, done = events(second, ticket)
    assert (message[2]["message"], done[2]["status"]) == ("Canceled.", "failed")


def test_a_job_of_a_server_that_was_killed_is_taken_over(start, servers):
    first, second = start(), servers[1]
    ticket = submit(first, 4, "taken over")
    stream = events(second, ticket)
    seen = [next(stream)]
    while seen[-1][1] != "stage":
        seen.append(next(stream))
    first.kill()
    seen += stream
    assert (seen[-1][1], seen[-1][2]["status"]) == ("done", "complete")
    assert [number for number, *_ in seen] == list(range(1, len(seen) + 1))
    assert second.client().document(ticket)["status"] == "complete"
    names = [document["name"] for _, kind, document in seen if kind == "stage"]
    assert len(names) == len(set(names))
