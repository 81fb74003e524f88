"""Test that clients that send or read slowly cost other clients neither time nor memory."""

import contextlib
import http.client
import json
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from served import Server
from waiting import wait_for

from explorer.views.pages import DIST

pytestmark = pytest.mark.slow

SLOW_CLIENTS = 200
READS = 50
#: The server gives slow clients 10 seconds and more. A reader waits for none: half of its answers come in
#: the first time, and each comes in the second. Without slow clients an answer takes milliseconds.
USUAL_SECONDS, LONGEST_SECONDS = 4.0, 8.0
WAIT_SECONDS = 60
HEAD = b"Host: localhost\r\nContent-Type: application/json\r\n"
POST = b"POST /api/v1/inspect HTTP/1.1\r\n" + HEAD


def unread(_):
    """Return requests whose answers exceed the system's buffers for a client."""
    file = max(DIST.rglob("*.js"), key=lambda each: each.stat().st_size)
    return f"GET /assets/{file.relative_to(DIST)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 40


#: What each kind of slow client sends first, and then again and again.
KINDS = {
    "half a request line": (lambda server: b"GET /api/v1/tar", b""),
    "dripping headers": (lambda server: b"GET / HTTP/1.1\r\n" + HEAD, b"X-A: b\r\n"),
    "dripping body": (lambda server: POST + b"Content-Length: 100000\r\n\r\n{", b" "),
    "unread answers": (unread, b""),
}


@contextlib.contextmanager
def slow_clients(server, kind, address, count=SLOW_CLIENTS):
    """Keep slow clients connected, each of which connects again when the server closes its connection."""
    start, drip = KINDS[kind]
    first = start(server)
    stop, connected = threading.Event(), threading.Event()
    clients = [None] * count

    def connect():
        client = server.connect(address)
        client.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            client.send(first)
        return client

    def work():
        while not stop.is_set():
            for number, client in enumerate(clients):
                try:
                    if client is None:
                        clients[number] = connect()
                    elif drip:
                        client.send(drip)
                    else:
                        client.send(b"")
                except BlockingIOError:
                    pass
                except OSError:
                    client = clients[number]
                    if client is not None:
                        client.close()
                    clients[number] = None
            connected.set()
            stop.wait(0.3)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert connected.wait(WAIT_SECONDS)
        yield
    finally:
        stop.set()
        worker.join()
        for client in clients:
            if client is not None:
                client.close()


def read(server, path="/api/v1/targets", address="127.0.0.1", attempts=1):
    """Return the status of a request and the seconds that it took, with all attempts."""
    start = time.monotonic()
    for _ in range(attempts - 1):
        with contextlib.suppress(ConnectionError):
            status = read_once(server, path, address)
            if status != http.HTTPStatus.TOO_MANY_REQUESTS:
                return status, time.monotonic() - start
        time.sleep(0.1)
    return read_once(server, path, address), time.monotonic() - start


def read_once(server, path, address):
    connection = http.client.HTTPConnection(
        "127.0.0.1", server.port, timeout=WAIT_SECONDS, source_address=(address, 0)
    )
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2"], ids=["same address", "another address"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_reader_is_served_beside_slow_clients(server, kind, address):
    """Slow clients with the reader's address may replace its connections, so that the reader tries again."""
    with slow_clients(server, kind, address):
        answers = [read(server, attempts=5 if address == "127.0.0.1" else 1) for _ in range(READS)]
    assert {status for status, _ in answers} == {200}
    seconds = [seconds for _, seconds in answers]
    assert statistics.median(seconds) < USUAL_SECONDS
    assert max(seconds) < LONGEST_SECONDS


def ending(client, drip, seconds):
    """Send drops until the server ends the connection. Return its answer and the seconds that it took."""
    start = time.monotonic()
    received = b""
    client.settimeout(0.5)
    while time.monotonic() < start + seconds:
        try:
            if drip:
                client.sendall(drip)
            data = client.recv(65536)
        except TimeoutError:
            continue
        except OSError:
            break
        if not data:
            break
        received += data
    else:
        return received, None
    return received, time.monotonic() - start


@pytest.fixture(scope="module")
def endings(server):
    """How the server ends slow clients, by kind: all wait at the same time."""

    def end(kind, seconds):
        start, drip = KINDS[kind]
        with server.connect("127.0.0.8") as client:
            client.sendall(start(server))
            return ending(client, drip, seconds)

    limits = {"half a request line": 75, "dripping headers": 75, "dripping body": 90}
    with ThreadPoolExecutor() as threads:
        return dict(zip(limits, threads.map(end, limits, limits.values()), strict=True))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["half a request line", "dripping headers", "dripping body"])
def test_a_request_that_takes_too_long_is_answered_with_408(endings, kind):
    answer, took = endings[kind]
    assert took is not None, "the server waits for ever"
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert json.loads(body)["kind"] == "request_too_slow"
    assert b"Content-Security-Policy: default-src 'none'" in head
    assert b"X-Content-Type-Options: nosniff" in head


@pytest.mark.nightly
def test_an_answer_that_nobody_reads_is_dropped(server):
    with server.connect() as client:
        client.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            client.send(unread(server))
        ours = client.getsockname()[1]
        wait_for(lambda: not held(server, ours), "the server keeps the answer for ever")


def held(server, port):
    """Return whether the server has an open connection to a port."""
    return any(each.raddr and each.raddr.port == port for each in server.worker.net_connections("tcp"))


def test_the_connections_of_a_client_are_limited(server):
    """The default is 100. The oldest connections that wait for their client are closed first."""
    clients = [server.connect("127.0.0.3") for _ in range(150)]
    try:
        assert read(server, address="127.0.0.3")[0] == 200
        mine = [
            each
            for each in server.worker.net_connections("tcp")
            if each.raddr and each.raddr.ip == "127.0.0.3"
        ]
        assert len(mine) <= 100
    finally:
        for client in clients:
            client.close()


def is_refused(client):
    """Return whether the server has refused a request: the system may hold all of it for the server."""
    try:
        return b" 429 " in client.recv(65536)
    except TimeoutError:
        return False
    except OSError:  # it was sending
        return True


def test_unfinished_bodies_of_a_client_are_limited(server):
    """A body may have 7 MiB; 60 of these would be 420 MiB."""
    part = b" " * (6 * 1024 * 1024)
    before = server.worker.memory_info().rss
    waiting = []
    refused = 0
    with contextlib.ExitStack() as stack:
        for _ in range(60):
            client = stack.enter_context(server.connect("127.0.0.4"))
            client.settimeout(5)
            try:
                client.sendall(POST + b"Content-Length: 7000000\r\n\r\n" + part)
            except OSError:  # it is refused
                refused += 1
                continue
            client.settimeout(0.05)
            waiting.append(client)
        deadline = time.monotonic() + WAIT_SECONDS
        while refused < 50 and time.monotonic() < deadline:
            answered = {client for client in waiting if is_refused(client)}
            refused += len(answered)
            waiting = [client for client in waiting if client not in answered]
        assert refused >= 50
        assert server.worker.memory_info().rss - before < 100 * 1024 * 1024
        assert read(server)[0] == 200


def test_a_client_whose_connections_are_all_in_use_is_refused(tmp_path, endless):
    server = Server(tmp_path, client_connections=4)
    try:
        job = server.post({"source": endless, "target": "cuda:90"})
        request = f"GET {job['events']} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        with contextlib.ExitStack() as stack:
            for _ in range(4):
                stream = stack.enter_context(server.connect("127.0.0.2"))
                stream.sendall(request)
                assert b" 200 OK" in stream.recv(65536)
            assert read(server, address="127.0.0.2")[0] == 429
            assert read(server, address="127.0.0.3")[0] == 200
    finally:
        server.close()
