"""A server on loopback with an empty data folder, and a client that times its responses."""

from __future__ import annotations

import contextlib
import http.client
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from served import Server

from bench.bare import TARGET
from explorer.settings import Settings

_HOST = "127.0.0.1"


@dataclass(frozen=True)
class Timing:
    """One compilation through HTTP, in milliseconds since the request. `id` identifies the result.

    `essential` is the time of the last stage or of the resources.
    """

    first_stage: float
    essential: float
    last_event: float
    id: str
    status: str


class Service:
    """A running server. `process` is its process ID."""

    def __init__(self, port: int, process: int) -> None:
        self.port = port
        self.process = process

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(_HOST, self.port, timeout=120)

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request and return the decoded response."""
        connection = self.connect()
        try:
            payload = None if body is None else json.dumps(body)
            connection.request(method, path, payload, {"Content-Type": "application/json"})
            response = connection.getresponse()
            data = response.read()
            if response.status >= 400:
                raise RuntimeError(f"{method} {path}: {response.status} {data[:300]!r}")
            return json.loads(data) if data else None
        finally:
            connection.close()

    def text(self, path: str) -> str:
        """Return the text at an address."""
        connection = self.connect()
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"http://{_HOST}:{self.port}"

    def time(self, path: str) -> float:
        """Return the milliseconds until the response to a GET request is complete."""
        start = time.perf_counter()
        self.request("GET", path)
        return (time.perf_counter() - start) * 1000

    def answers(self, path: str) -> bool:
        """Return whether a GET request to `path` succeeds."""
        connection = self.connect()
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        finally:
            connection.close()

    def compile(self, source: str, target: str, **options: object) -> Timing:
        """Compile with compiler options. The launch's options are the default."""
        return self.perform({"source": source, "target": target, **({"options": options} if options else {})})

    def perform(self, body: dict[str, Any]) -> Timing:
        """Request a compilation and read its events to the end."""
        start = time.perf_counter()
        accepted = self.request("POST", "/api/v1/compilations", body)
        connection = self.connect()
        first_stage = essential = 0.0
        status = ""
        try:
            connection.request("GET", accepted["events"])
            response = connection.getresponse()
            kind = ""
            while line := response.readline():
                if line.startswith(b"event: "):
                    kind = line[7:].strip().decode()
                    if kind in ("stage", "resources"):
                        essential = (time.perf_counter() - start) * 1000
                        first_stage = first_stage or essential
                elif line.startswith(b"data: ") and kind == "done":
                    status = json.loads(line[6:])["status"]
                    break
            last_event = (time.perf_counter() - start) * 1000
        finally:
            connection.close()
        return Timing(first_stage, essential, last_event, accepted["id"], status)

    def wait_until_warm(self) -> None:
        """Compile once, so that the measured server is warm."""
        self.compile(WARM_UP, TARGET)

    def processes(self) -> set[int]:
        """Return the server and each of its descendants."""
        parents: dict[int, int] = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    stat = (folder / "stat").read_text()
                    parents[int(folder.name)] = int(stat.rsplit(")", 1)[1].split()[1])
        ours = {self.process}
        while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
            ours |= more
        return ours

    def memory_by_process(self) -> dict[int, float]:
        """Return the proportional set size, in MB, of the server and each of its descendants."""
        sizes = {}
        for pid in self.processes():
            with contextlib.suppress(OSError):
                for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                    if line.startswith("Pss:"):
                        sizes[pid] = int(line.split()[1]) / 1000
        return sizes


WARM_UP = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2)


kernel[(1,)](torch.empty(256, device="cuda"), BLOCK=256)
"""


@contextlib.contextmanager
def running_service(program: Sequence[str] = ("explorer",), **changed: Any) -> Iterator[Service]:
    """Start a server with an empty data folder, and otherwise its own settings; stop it at the end.

    `program` is the module to run instead of the command, and its arguments. `changed` are other settings.
    """
    settings = Settings()
    names = ("slots", "tritons", "canary_seconds")
    options: dict[str, Any] = {**{name: getattr(settings, name) for name in names}, **changed}
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(
            Server(
                Path(folder),
                program=program,
                **options,
            )
        ) as server,
    ):
        yield Service(server.port, server.process.pid)
