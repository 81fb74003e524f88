"""A server that tests start, as an administrator starts it, and clients with different addresses."""

from __future__ import annotations

import dataclasses
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil
from forms import urls_of
from processes import ask_each
from tritons import TRITONS

from explorer.sandbox import linux
from explorer.settings import Settings

ROOT = Path(__file__).parents[1]
_CLIENT_SECONDS = 60
#: The default settings of a server or a worker in tests.
_USUAL: Mapping[str, object] = {"slots": 1, "tritons": TRITONS[0], "canary_seconds": 0}


def end_with_parent() -> None:
    """Stop this process when the test process has ended, even if that was killed."""
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGTERM)


class Server:
    """Runs `triton-explorer serve` on a free port.

    Unless the settings say otherwise, it has one slot, the newest Triton version only, and no canaries: each
    version that a server starts costs seconds of processor time, and so do the sandboxes that only canaries
    would start. `environment` has further variables. `program` is the module to run instead of the command,
    and its arguments. `folder` is its data folder. `log` gets what the server logs; without it, that goes
    where the log of the tests goes.

    In the distributed form, a worker with the same settings does its jobs, unless they name a database.
    """

    def __init__(
        self,
        folder: Path,
        environment: Mapping[str, str] | None = None,
        program: Sequence[str] = ("explorer",),
        log: IO[bytes] | None = None,
        **settings: object,
    ) -> None:
        self.folder = folder
        urls = {} if "database_url" in settings else urls_of(folder)
        self.settings = {**_USUAL, **urls, **settings}
        self.jobs_worker: Worker | None = None
        if urls:
            self.jobs_worker = Worker(
                _folder_of_worker(folder),
                program=program,
                environment=environment,
                log=log,
                **self.settings,
            )
        self.process = _start(
            [*program, "serve", "--port", "0", "--data-dir", str(folder)], self.settings, environment, log
        )
        assert self.process.stdout is not None
        self.output = self.process.stdout
        self._clients: list[Client] = []
        announced = self.output.readline()
        assert announced.startswith("triton-explorer serves on "), f"The server did not start: {announced!r}"
        self.url = announced.split()[-1]
        self.port = int(self.url.rpartition(":")[2])

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path) as response:
            return json.load(response)

    def post(self, body: dict[str, Any]) -> Any:
        """Submit a compilation and return its ticket."""
        request = urllib.request.Request(
            self.url + "/api/v1/compilations", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def events(self, ticket: dict[str, str]) -> Iterator[str]:
        """Yield the kinds of the events as they arrive."""
        with urllib.request.urlopen(self.url + ticket["events"]) as response:
            for line in response:
                if line.startswith(b"event: "):
                    yield line[7:].strip().decode()

    def client(self, number: int = 1) -> Client:
        """Return a client at 127.0.0.<number>."""
        self._clients.append(Client(self.port, f"127.0.0.{number}"))
        return self._clients[-1]

    def connect(self, address: str = "127.0.0.1") -> socket.socket:
        """Connect from an address of the loopback network, with a small receive buffer."""
        client = socket.socket()
        client.settimeout(_CLIENT_SECONDS)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.bind((address, 0))
        client.connect(("127.0.0.1", self.port))
        return client

    @property
    def is_asked(self) -> float:
        """The number of compilations that the server was asked for."""
        with urllib.request.urlopen(f"{self.url}/metrics") as response:
            text = response.read().decode()
        counts = re.findall(r"^triton_explorer_compilations_answered_total\{.*\} (\S+)$", text, re.M)
        return sum(map(float, counts))

    @property
    def worker(self) -> psutil.Process:
        """The process that answers requests."""
        return psutil.Process(self.process.pid).children()[0]

    def family(self) -> list[psutil.Process]:
        """Return all processes of the server and of its worker."""
        started = [self.process, *([self.jobs_worker.process] if self.jobs_worker else [])]
        roots = [psutil.Process(each.pid) for each in started]
        return [each for root in roots for each in (root, *root.children(recursive=True))]

    def kill(self) -> None:
        """Kill all processes at once with SIGKILL, as the kernel does when memory is short."""
        ask_each(self.family(), psutil.Process.kill)
        self.process.wait()
        self.close()

    def stop(self) -> None:
        """Stop the server and its worker as an administrator does."""
        self.process.terminate()
        self.process.wait(timeout=_CLIENT_SECONDS)
        if self.jobs_worker is not None:
            self.jobs_worker.close()

    def close(self) -> None:
        """Stop the server and its worker if they run, and close the connections of its clients."""
        for client in self._clients:
            client.connection.close()
        if self.process.poll() is None:
            self.stop()
        elif self.jobs_worker is not None:
            self.jobs_worker.close()
        self.output.close()


class Worker:
    """Runs `triton-explorer worker`. It has the same default settings as `Server`.

    `arguments` are passed to the command. `environment`, `program` and `log` are the same as for `Server`.
    """

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        program: Sequence[str] = ("explorer",),
        log: IO[bytes] | None = None,
        **settings: object,
    ) -> None:
        settings = {**_USUAL, **settings}
        self.process = _start(
            [*program, "worker", "--data-dir", str(folder), *arguments], settings, environment, log
        )
        assert self.process.stdout is not None
        announced, _, queues = self.process.stdout.readline().strip().partition(" jobs of ")
        assert announced == "triton-explorer does", "The worker did not start."
        self.queues = queues.split(", ")

    @classmethod
    def of(cls, settings: Settings) -> Worker:
        """Start the worker of an application with these settings."""
        default = Settings()
        names = {each.name for each in dataclasses.fields(settings)} - {"data_dir", "canary_seconds"}
        own = {name: value for name in names if (value := getattr(settings, name)) != getattr(default, name)}
        usual = {name: getattr(settings, name) for name in names & _USUAL.keys()}
        return cls(_folder_of_worker(settings.data_dir), **{**own, **usual})

    def kill(self) -> None:
        """Kill all processes at once with SIGKILL."""
        present = psutil.Process(self.process.pid)
        ask_each((present, *present.children(recursive=True)), psutil.Process.kill)
        self.close()

    def close(self) -> None:
        """Stop the worker as an administrator does, if it runs."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=_CLIENT_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()


def _folder_of_worker(folder: Path) -> Path:
    """Return the data folder of the worker of a server, as on another machine."""
    return folder.with_name(f"{folder.name}-worker")


def _start(
    arguments: Sequence[str],
    settings: Mapping[str, object],
    environment: Mapping[str, str] | None,
    log: IO[bytes] | None,
) -> subprocess.Popen[str]:
    """Start a module of this Python with settings of triton-explorer."""
    variables = {f"TRITON_EXPLORER_{name.upper()}": str(value) for name, value in settings.items()}
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        preexec_fn=end_with_parent,
    )


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        """The body, if it is JSON."""
        return json.loads(self.body)


@dataclass
class Client:
    """Sends requests from one address, one after another."""

    port: int
    address: str
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=_CLIENT_SECONDS, source_address=(self.address, 0)
        )

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Send a request and return the response."""
        if body is not None:
            headers = {"Content-Type": "application/json", **headers}
        encoded = None if body is None else json.dumps(body).encode()
        self.connection.request(method, path, encoded, headers)
        response = self.connection.getresponse()
        return Answer(response.status, dict(response.getheaders()), response.read())

    def submit(self, source: str, follower: str = "", **headers: str) -> Answer:
        path = "/api/v1/compilations" + (f"?follower={follower}" if follower else "")
        return self.ask("POST", path, {"source": source, "target": "cuda:90"}, **headers)

    def document(self, ticket: Any) -> Any:
        return self.ask("GET", ticket["api"]).document

    def compile(self, source: str) -> tuple[str, float]:
        """Compile a source, and return the status and the time that it took, in seconds."""
        begin = time.monotonic()
        answer = self.submit(source)
        assert answer.status in (200, 202), answer
        self.ask("GET", answer.document["events"])
        return self.document(answer.document)["status"], time.monotonic() - begin
