"""A server of our own on loopback, with an empty data folder, and a client that times what it answers."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.bare import TARGET

_HOST = "127.0.0.1"


@dataclass(frozen=True)
class Timing:
    """One compile through HTTP, in milliseconds from the request on. `id` is the result's."""

    first_stage: float
    last_event: float
    id: str
    status: str


class Service:
    """A running server; `process` is the number of its process."""

    def __init__(self, port: int, process: int) -> None:
        self.port = port
        self.process = process

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection."""
        return http.client.HTTPConnection(_HOST, self.port, timeout=120)

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request and return the decoded answer."""
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

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{_HOST}:{self.port}"

    def time(self, path: str) -> float:
        """Milliseconds until the whole answer to a GET is here."""
        start = time.perf_counter()
        self.request("GET", path)
        return (time.perf_counter() - start) * 1000

    def answers(self, path: str) -> bool:
        """Whether there is something at a path."""
        connection = self.connect()
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        finally:
            connection.close()

    def compile(self, source: str, target: str, **options: object) -> Timing:
        """Ask for a compile, by default with its launch's options, and follow its events to the last one."""
        start = time.perf_counter()
        body = {"source": source, "target": target, **({"options": options} if options else {})}
        accepted = self.request("POST", "/api/v1/compilations", body)
        connection = self.connect()
        first_stage = 0.0
        status = ""
        try:
            connection.request("GET", accepted["events"])
            response = connection.getresponse()
            kind = ""
            while line := response.readline():
                if line.startswith(b"event: "):
                    kind = line[7:].strip().decode()
                    if kind == "stage" and not first_stage:
                        first_stage = (time.perf_counter() - start) * 1000
                elif line.startswith(b"data: ") and kind == "done":
                    status = json.loads(line[6:])["status"]
                    break
            last_event = (time.perf_counter() - start) * 1000
        finally:
            connection.close()
        return Timing(first_stage, last_event, accepted["id"], status)

    def wait_until_warm(self) -> None:
        """Compile once, so that what is measured is a warm server."""
        self.compile(_WARM_UP, TARGET)

    def memory_by_process(self) -> dict[int, float]:
        """Return the proportional memory, in MB, of the server and each process below it."""
        parents: dict[int, int] = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    stat = (folder / "stat").read_text()
                    parents[int(folder.name)] = int(stat.rsplit(")", 1)[1].split()[1])
        ours = {self.process}
        while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
            ours |= more
        sizes = {}
        for pid in ours:
            with contextlib.suppress(OSError):
                for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                    if line.startswith("Pss:"):
                        sizes[pid] = int(line.split()[1]) / 1000
        return sizes


_WARM_UP = """
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
def running_service() -> Iterator[Service]:
    """Start a server with an empty data folder; stop it at the end."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "explorer", "serve", "--port", str(port), "--data-dir", folder]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            service = Service(port, process.pid)
            deadline = time.monotonic() + 60
            while True:
                try:
                    service.request("GET", "/healthz")
                    break
                except (OSError, RuntimeError):
                    if time.monotonic() > deadline or process.poll() is not None:
                        raise
                    time.sleep(0.05)
            yield service
        finally:
            process.terminate()
            process.wait(30)
