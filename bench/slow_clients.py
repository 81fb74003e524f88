"""Measure what clients that send or read slowly, and open event streams, cost everybody else.

For each kind of slow client, the time of a reader's requests alone and beside 200 of them, which have the
reader's own address. Then the memory and processor time of 1,000 open event streams.
"""

from __future__ import annotations

import contextlib
import http.client
import resource
import selectors
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.service import Service
from explorer.views.pages import DIST

SLOW_CLIENTS = 200
READS = 1000
STREAMS = 1000
STREAMS_OF_CLIENT = 50
WATCHED_SECONDS = 20.0
_DRIP_SECONDS = 0.5
_HEAD = b"GET /api/v1/targets HTTP/1.1\r\nHost: localhost\r\n"
_ENDLESS = "while True:\n    pass\n"

Drip = Callable[[socket.socket], None]


def _send(data: bytes) -> Drip:
    return lambda connection: connection.sendall(data)


def _nothing(_: socket.socket) -> None:
    pass


def _kinds(large: str) -> dict[str, tuple[bytes, Drip]]:
    """Return what each kind of client sends first, and then twice a second."""
    body = b"POST /api/v1/inspect HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return {
        "half request lines": (b"GET /api/v1/tar", _nothing),
        "dripping headers": (_HEAD, _send(b"X-A: b\r\n")),
        "dripping bodies": (body + b"Content-Length: 100000\r\n\r\n{", _send(b" ")),
        "unread answers": (f"GET {large} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 8, _nothing),
    }


@contextlib.contextmanager
def slow_clients(port: int, first: bytes, drip: Drip, count: int = SLOW_CLIENTS) -> Iterator[None]:
    """Keep this many slow clients connected. A client whose connection the server closes reconnects."""
    stop = threading.Event()

    def connect() -> socket.socket:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(5)
        connection.connect(("127.0.0.1", port))
        connection.sendall(first)
        return connection

    def work() -> None:
        connections: list[socket.socket | None] = [None] * count
        while not stop.is_set():
            for index, connection in enumerate(connections):
                try:
                    if connection is None:
                        connections[index] = connect()
                    else:
                        drip(connection)
                except OSError:
                    if connection is not None:
                        connection.close()
                    connections[index] = None
            stop.wait(_DRIP_SECONDS)
        for connection in filter(None, connections):
            connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        time.sleep(2 * _DRIP_SECONDS)
        yield
    finally:
        stop.set()
        worker.join()


def read(port: int, path: str, count: int = READS) -> list[float]:
    """Return the milliseconds of this many requests, each on a new connection."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path)
        status = connection.getresponse()
        status.read()
        connection.close()
        if status.status != 200:
            raise RuntimeError(f"{path}: {status.status}")
        times.append((time.perf_counter() - start) * 1000)
    return times


def p99(times: list[float]) -> float:
    """Return the 99th percentile."""
    return statistics.quantiles(times, n=100)[-1]


def _processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _worker(process: int) -> int:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return int(children[0])


def _open_streams(port: int, path: str) -> list[socket.socket]:
    """Open event streams, from several addresses of the loopback network."""
    streams = []
    for number in range(STREAMS):
        stream = socket.socket()
        stream.bind((f"127.0.1.{1 + number // STREAMS_OF_CLIENT}", 0))
        stream.connect(("127.0.0.1", port))
        stream.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        streams.append(stream)
    return streams


def _largest_file() -> str:
    file = max(DIST.rglob("*.js"), key=lambda each: each.stat().st_size)
    return f"/assets/{file.relative_to(DIST)}"


def measure_streams(service: Service) -> dict[str, float]:
    """Open 1,000 event streams of one job, and read their events for a while."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    job = service.request("POST", "/api/v1/compilations", {"source": _ENDLESS, "target": "cuda:90"})
    worker = _worker(service.process)
    before_mb, start = service.memory_by_process()[worker], time.monotonic()
    streams = _open_streams(service.port, job["events"])
    with selectors.DefaultSelector() as selector:
        connected: set[int] = set()
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        while len(connected) < STREAMS and time.monotonic() < start + 60:
            for key, _ in selector.select(1):
                if b": connected" in key.fileobj.recv(65536):  # type: ignore[union-attr]
                    connected.add(key.fd)
        opened = time.monotonic() - start
        alone = read(service.port, "/api/v1/targets", 100)
        cpu = _processor_seconds(worker)
        time.sleep(WATCHED_SECONDS)
        cpu = _processor_seconds(worker) - cpu
        after_mb = service.memory_by_process()[worker]
    service.request("DELETE", job["api"])
    for stream in streams:
        stream.close()
    return {
        "streams": len(connected),
        "seconds_to_open": opened,
        "mb": after_mb - before_mb,
        "processor_percent": 100 * cpu / WATCHED_SECONDS,
        "reader_p99_ms": p99(alone),
    }


def measure_slow_clients(service: Service) -> dict[str, object]:
    """Measure and print."""
    path = "/api/v1/targets"
    read(service.port, path, 100)
    alone = read(service.port, path)
    figures: dict[str, object] = {"alone_p99_ms": p99(alone)}
    print(f"reader alone: median {statistics.median(alone):.2f} ms, p99 {p99(alone):.2f} ms")
    for name, (first, drip) in _kinds(_largest_file()).items():
        with slow_clients(service.port, first, drip):
            times = read(service.port, path)
        memory = service.memory_by_process()[_worker(service.process)]
        median, high = statistics.median(times), p99(times)
        figures[name] = {"median_ms": median, "p99_ms": high, "server_mb": memory}
        print(
            f"beside {SLOW_CLIENTS} {name}: median {median:.2f} ms, "
            f"p99 {high:.2f} ms ({high / p99(alone):.1f} times), server {memory:.0f} MB"
        )
    figures["streams"] = streams = measure_streams(service)
    print(
        f"{streams['streams']:.0f} open event streams: {streams['mb']:.1f} MB, "
        f"{streams['processor_percent']:.1f} % of a core, p99 of a reader {streams['reader_p99_ms']:.1f} ms"
    )
    return figures
