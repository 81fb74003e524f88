"""An S3 server for tests, and a proxy in front of it that fails in the ways of a network."""

from __future__ import annotations

import http.client
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from forms import BUCKET
from served import end_with_parent

_KEY, _SECRET = "key", "secret-of-the-tests"
#: "error": answers 500. "stall": does not answer. "slow": answers after a second. "cut": answers in part, and
#: closes the connection.
Fault = Literal["", "error", "stall", "slow", "cut"]
_SLOW_SECONDS = 1


class S3Server:
    """Runs rclone as an S3 server on a free port. The folders in `folder` are its buckets.

    If it `sees_changes`, it lists a folder again for each request, and sees what a test changes there.
    To write one of 2,400 texts then takes 240 ms of processor time, instead of 4 ms.
    """

    #: Environment variables of clients.
    credentials = {"AWS_ACCESS_KEY_ID": _KEY, "AWS_SECRET_ACCESS_KEY": _SECRET}  # noqa: RUF012

    def __init__(self, folder: Path, *, sees_changes: bool) -> None:
        self.folder = folder
        program = Path(sys.executable).with_name("rclone")
        arguments = ["serve", "s3", str(folder), "--addr", "127.0.0.1:0", "--auth-key", f"{_KEY},{_SECRET}"]
        lists_again_after = "1ms" if sees_changes else "24h"  # with 0s, rclone never rests
        self.process = subprocess.Popen(
            [program, *arguments, "--config", "/dev/null", "--dir-cache-time", lists_again_after],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=end_with_parent,
        )
        assert self.process.stderr is not None
        announced = self.process.stderr.readline()
        found = re.search(r"Starting s3 server on \[(http://127\.0\.0\.1:\d+)/\]", announced)
        assert found, f"The S3 server did not start: {announced!r}"
        self.endpoint = found[1]

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class FaultyProxy:
    """Passes requests on to a server on this machine, unless `fault` is set. `requests` are their methods."""

    def __init__(self, endpoint: str) -> None:
        self.fault: Fault = ""
        #: How many requests have the fault; None: all.
        self.times: int | None = None
        self.requests: list[str] = []
        self.is_closed = threading.Event()
        self.connections: set[socket.socket] = set()
        self._upstream = urlsplit(endpoint).netloc
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def fault_of_next(self) -> Fault:
        if self.times is not None:
            self.times -= 1
            if self.times < 0:
                return ""
        return self.fault

    def ask(
        self, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request to the server, and return the response with its content."""
        with closing(http.client.HTTPConnection(self._upstream, timeout=60)) as connection:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return response, response.read()

    def close(self) -> None:
        """Close all connections, and refuse others."""
        self.is_closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for connection in tuple(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _handler_of(proxy: FaultyProxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            proxy.connections.add(self.connection)

        def finish(self) -> None:
            proxy.connections.discard(self.connection)
            super().finish()

        def answer(self) -> None:
            proxy.requests.append(self.command)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            fault = proxy.fault_of_next()
            if fault == "error":
                self.send_response(500)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if fault == "stall":
                proxy.is_closed.wait(60)
                self.close_connection = True
                return
            if fault == "slow":
                proxy.is_closed.wait(_SLOW_SECONDS)
            response, content = proxy.ask(self.command, self.path, body, dict(self.headers))
            self.send_response(response.status)
            for name, value in response.getheaders():
                if name.lower() not in (
                    "connection",
                    "content-length",
                    "date",
                    "server",
                    "transfer-encoding",
                ):
                    self.send_header(name, value)
            self.send_header("Content-Length", response.getheader("Content-Length") or str(len(content)))
            self.end_headers()
            if fault == "cut":
                self.close_connection = True
                content = content[: len(content) // 2]
            with suppress(OSError):  # the client has given up
                self.wfile.write(content)

        do_DELETE = do_GET = do_HEAD = do_POST = do_PUT = answer  # noqa: N815  names of http.server

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  its name in http.server
            """Write no log."""

    return Handler


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """An S3 server, shared by all tests that read its files."""
    server = S3Server(tmp_path_factory.mktemp("s3"), sees_changes=True)
    yield server
    server.close()


@pytest.fixture(scope="session")
def s3_server_of_form(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """The S3 server of the distributed form, with its bucket."""
    folder = tmp_path_factory.mktemp("s3-of-form")
    (folder / BUCKET).mkdir()
    server = S3Server(folder, sees_changes=False)
    yield server
    server.close()


@pytest.fixture
def bucket(s3_server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty bucket of its own for a test, as a folder. Its credentials are in the environment."""
    for name, value in s3_server.credentials.items():
        monkeypatch.setenv(name, value)
    folder = s3_server.folder / re.sub("[^a-z0-9]+", "-", str(tmp_path).lower())[-60:].strip("-")
    folder.mkdir()
    return folder


@pytest.fixture
def blobs_url(s3_server: S3Server, bucket: Path) -> str:
    """The URL of the bucket, with a prefix."""
    return f"s3://{bucket.name}/texts?endpoint={s3_server.endpoint}&timeout_seconds=60"


@pytest.fixture
def proxy(s3_server: S3Server) -> Iterator[FaultyProxy]:
    proxy = FaultyProxy(s3_server.endpoint)
    yield proxy
    proxy.close()


@pytest.fixture
def faulty_url(bucket: Path, proxy: FaultyProxy) -> str:
    """The URL of the bucket behind the proxy. Requests have five seconds."""
    return f"s3://{bucket.name}/texts?endpoint={proxy.endpoint}&timeout_seconds=5"
