"""Test requests that are wrong, or too many, at the border of the server."""

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import time
from types import SimpleNamespace

import pytest

from explorer import create_app
from explorer.server.application import Application
from explorer.services import services_of
from explorer.settings import Settings
from explorer.views.pages import DIST

#: An answer at once takes milliseconds; the limit for a body is 30 seconds.
AT_ONCE_SECONDS = 15.0
POST = b"POST /api/v1/inspect HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def ask(server, request):
    """Return the status, headers and body of the answer to the bytes of a request."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(request)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.headers, answer.read()


@pytest.mark.slow
@pytest.mark.parametrize(
    "rest",
    [
        b"Content-Length: 99999999999999999999\r\n\r\n{",
        b"Content-Length: 67108865\r\n\r\n{",
        b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 40 + b"\r\n{",
        b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n" + b"f" * 40 + b"\r\n{",
    ],
    ids=["20 digits", "64 MiB and one byte", "a chunk of 40 digits", "the second chunk"],
)
def test_an_impossible_length_is_refused_at_once(server, rest):
    begin = time.monotonic()
    status, headers, body = ask(server, POST + rest)
    assert time.monotonic() - begin < AT_ONCE_SECONDS
    assert (status, json.loads(body)["kind"]) == (413, "source_too_large")
    assert headers["Connection"] == "close"


@pytest.mark.slow
@pytest.mark.parametrize("address", ["/api/v1/matrices", "/mcp"])
def test_more_objects_than_a_request_has_are_not_decoded(server, address):
    """No other thread runs while they are."""
    body = b"[" + b"{}," * 500_000 + b"{}]"
    head = f"POST {address} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    accepted = "Accept: application/json, text/event-stream\r\n"
    request = f"{head}{accepted}Content-Length: {len(body)}\r\n\r\n".encode() + body
    status, _, answer = ask(server, request)
    assert (status, json.loads(answer).get("kind")) == (400, "invalid_request")
    assert "500,002 opening brackets" in json.loads(answer)["detail"]


@pytest.mark.slow
def test_a_request_without_a_host_is_refused(server):
    status, _, body = ask(server, b"GET /api/v1/targets HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert (status, json.loads(body)["kind"]) == (400, "invalid_request")
    assert ask(server, b"GET /api/v1/targets HTTP/1.0\r\n\r\n")[0] == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "host", "status"),
    [
        (b"http://localhost/api/v1/targets", b"localhost", 200),
        (b"http://LOCALHOST:8000/api/v1/targets", b"localhost", 200),
        (b"http://evil.example/api/v1/targets", b"localhost", 400),
        (b"http://localhost@evil.example/api/v1/targets", b"localhost", 400),
        (b"http://[/api/v1/targets", b"localhost", 400),
        (b"http:///api/v1/targets", b"localhost", 400),
        (b"/api/v1/targets", b"evil.example", 400),
    ],
)
def test_the_host_of_a_whole_address_is_checked_as_the_header_is(server, address, host, status):
    for _ in range(2):  # an answer that is kept is no way around the check
        assert ask(server, b"GET " + address + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")[0] == status


@pytest.mark.slow
def test_a_range_that_is_not_in_a_file_is_refused(server):
    path = next(DIST.glob("app-*.js"))
    size = path.stat().st_size
    head = f"GET /assets/{path.name} HTTP/1.1\r\nHost: localhost\r\nRange: bytes="
    status, headers, _ = ask(server, f"{head}{size}-\r\n\r\n".encode())
    assert (status, headers["Content-Range"]) == (416, f"bytes */{size}")
    status, headers, body = ask(server, f"{head}0-9\r\n\r\n".encode())
    assert (status, headers["Content-Range"]) == (206, f"bytes 0-9/{size}")
    assert body == path.read_bytes()[:10]


@pytest.fixture
def app(tmp_path):
    app = create_app(Settings(data_dir=tmp_path, threads=8, slots=1))
    yield app
    services_of(app).close()


class Visitor:
    """A connection of a client that sends one request."""

    is_refused = is_lost = False

    def __init__(self, address):
        self.peer = (address, id(self))
        self.sent = []

    def begin(self):
        pass

    def at_work(self):
        return contextlib.nullcontext()

    async def send(self, message):
        self.sent.append(message)

    async def receive(self):
        return {"type": "http.request", "body": b"", "more_body": False}

    async def get(self, application, path):
        """Send a request, and return the status and headers of the answer."""
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "raw_path": path,
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
            "server": ("127.0.0.1", 8000),
            "client": self.peer,
            "state": {"connections": SimpleNamespace(find=lambda _: self)},
        }
        await application(scope, self.receive, self.send)
        return self.sent[0]["status"], dict(self.sent[0]["headers"])


@pytest.mark.slow
def test_one_client_cannot_have_all_threads(app, monkeypatch):
    """Of 8 threads, one client gets 6. Its other requests wait without a thread, and are refused at last."""
    monkeypatch.setattr("explorer.server.application._TURN_SECONDS", 5.0)
    may_end = threading.Event()

    def slow():
        assert may_end.wait(60)
        return "done"

    app.add_url_rule("/slow", "slow", slow)
    # It needs a thread, and nothing of the server, which has just started.
    app.add_url_rule("/quick", "quick", lambda: "done")
    application = Application(app)

    async def attack():
        attacks = [asyncio.create_task(Visitor("127.0.0.2").get(application, b"/slow")) for _ in range(20)]
        try:
            other = await asyncio.wait_for(Visitor("127.0.0.3").get(application, b"/quick"), 20)
            await asyncio.wait(attacks[6:], timeout=30)
        finally:
            may_end.set()
        answers = await asyncio.gather(*attacks)
        later = await Visitor("127.0.0.2").get(application, b"/slow")
        return other, answers, later

    other, answers, later = asyncio.run(attack())
    assert other[0] == 200
    assert sorted(status for status, _ in answers) == [200] * 6 + [429] * 14
    assert all(headers[b"Retry-After"] for status, headers in answers if status == 429)
    assert later[0] == 200
