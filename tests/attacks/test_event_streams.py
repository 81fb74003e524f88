"""Test that open event streams hold no threads, and that one client cannot take the streams of other
clients."""

import contextlib
import http.client
import json
import select
import time
import urllib.request
import uuid

import pytest
from served import Server
from waiting import wait_for

pytestmark = pytest.mark.slow

#: The default limit of one client.
STREAMS_OF_CLIENT = 50
#: The limit of a wait on a busy machine. Each wait takes less than a second on an idle machine.
WAIT_SECONDS = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    server = Server(data, threads=8, wall_limit_seconds=600, cpu_limit_seconds=600)
    yield server
    server.close()


@pytest.fixture
def job(server, endless):
    """A job without an end."""
    ticket = server.post({"source": f"{endless}# {uuid.uuid4()}", "target": "cuda:90"})
    yield ticket
    cancel(server, ticket)


def cancel(server, job):
    with urllib.request.urlopen(urllib.request.Request(server.url + job["api"], method="DELETE")):
        pass


@contextlib.contextmanager
def open_streams(server, job, count, address="127.0.0.1"):
    """Open event streams. Yield their connections and their statuses."""
    request = f"GET {job['events']} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(server.connect(address)) for _ in range(count)]
        for stream in streams:
            stream.sendall(request)
        yield streams, [int(stream.recv(65536).split()[1]) for stream in streams]


def status(server, path, address, method="GET"):
    connection = http.client.HTTPConnection(
        "127.0.0.1", server.port, timeout=WAIT_SECONDS, source_address=(address, 0)
    )
    try:
        connection.request(method, path)
        return connection.getresponse().status
    finally:
        connection.close()


def test_the_streams_of_one_client_leave_those_of_others(server, job):
    with open_streams(server, job, STREAMS_OF_CLIENT + 5) as (_, statuses):
        assert sorted(statuses) == [200] * STREAMS_OF_CLIENT + [429] * 5
        assert status(server, job["events"], "127.0.0.2") == 200
        assert status(server, "/api/v1/targets", "127.0.0.1") == 200


def test_streams_hold_no_threads(server, job):
    with contextlib.ExitStack() as stack:
        streams = []
        for number in range(8):
            opened = open_streams(server, job, STREAMS_OF_CLIENT, f"127.0.2.{number + 1}")
            each, statuses = stack.enter_context(opened)
            assert set(statuses) == {200}
            streams += each
        assert server.worker.num_threads() < 50
        assert status(server, "/api/v1/targets", "127.0.0.1") == 200
        assert server.get(job["api"])["status"] in ("queued", "running")  # so that no stream has ended
        for number in range(8):
            status(server, job["api"], f"127.0.2.{number + 1}", "DELETE")
        cancel(server, job)
        assert all(ends(stream) for stream in streams)


def ends(stream):
    """Return whether the last event of a stream arrives."""
    received = b""
    deadline = time.monotonic() + WAIT_SECONDS
    while b"event: done" not in received and time.monotonic() < deadline:
        if select.select([stream], [], [], 1)[0]:
            data = stream.recv(65536)
            if not data:
                return False
            received += data
    return b"event: done" in received


def test_a_client_that_closes_its_streams_can_open_others(server, job):
    for _ in range(3):
        with open_streams(server, job, STREAMS_OF_CLIENT, "127.0.0.5") as (_, statuses):
            assert set(statuses) == {200}
        wait_for(
            lambda: status(server, job["events"], "127.0.0.5") == 200,
            "the server counts streams that are closed",
        )
        wait_until_counted(server, job)


def wait_until_counted(server, job):
    """Wait until the server has noticed that all streams of a client are closed."""

    def remote_addresses():
        return [each.raddr.ip for each in server.worker.net_connections("tcp") if each.raddr]

    wait_for(lambda: "127.0.0.5" not in remote_addresses())


def test_a_request_for_the_headers_alone_opens_no_stream(server, job):
    for _ in range(STREAMS_OF_CLIENT + 5):
        assert status(server, job["events"], "127.0.0.7", "HEAD") == 200


def test_a_refused_stream_says_so(server, job):
    with open_streams(server, job, STREAMS_OF_CLIENT, "127.0.0.6") as (_, statuses):
        assert set(statuses) == {200}
        connection = http.client.HTTPConnection(
            "127.0.0.1", server.port, timeout=WAIT_SECONDS, source_address=("127.0.0.6", 0)
        )
        connection.request("GET", job["events"])
        response = connection.getresponse()
        assert (response.status, json.load(response)["kind"]) == (429, "too_many_requests")
        assert response.headers["Retry-After"]
        connection.close()


def test_a_client_behind_a_proxy_cannot_claim_another_address(tmp_path, endless):
    """WSGI has one variable for a header of the proxy and one of the client, which differ in a dash."""
    server = Server(tmp_path, client_streams=1, proxies="127.0.0.1")
    try:
        events = server.post({"source": endless, "target": "cuda:90"})["events"]
        with contextlib.ExitStack() as stack:
            statuses = []
            for claim in ("X_Forwarded_For: 203.0.113.2\r\n", "X_Forwarded_For: 203.0.113.3\r\n"):
                stream = stack.enter_context(server.connect())
                head = (
                    f"GET {events} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.1\r\n{claim}\r\n"
                )
                stream.sendall(head.encode())
                statuses.append(int(stream.recv(65536).split()[1]))
        assert statuses == [200, 429]
    finally:
        server.kill()
