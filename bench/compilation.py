"""Compare, in one run on one machine, for every gallery kernel on sm_90:

(a) request to last event through HTTP: cold cache, warm server, everything captured;
(b) bare `triton.compile` of the same specialisation in a warm process, and one run of the disassembler;
(c) a fresh process a compile, which imports torch and triton.

Also: the time to the first stage, stored results (answer time, requests a second), and memory. Rounds of
the alternatives take turns, so that a machine that drifts drifts for all.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.bare import TARGET
from bench.service import Service
from explorer.examples import Example, load_examples

ROUNDS = 5
FRESH_ROUNDS = 2
STORED_REQUESTS = 300
CLIENTS = 8


def _bare(action: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-m", "bench.bare", action, *arguments]
    return subprocess.Popen(command, text=True, stderr=subprocess.DEVNULL, **options)


def measure_kernel(service: Service, example: Example, folder: Path) -> dict[str, Any]:
    """Time one gallery kernel by all three ways, in turns."""
    file = folder / f"{example.name}.pickle"
    if _bare("specialize", example.name, str(file)).wait() != 0:
        raise RuntimeError(f"{example.name} could not be specialised")
    through_http, first_stage, bare, fresh = [], [], [], []
    warm = _bare("serve", str(file), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert warm.stdin is not None and warm.stdout is not None
    if warm.stdout.readline().strip() != "ready":
        raise RuntimeError(f"{example.name} could not be compiled by itself")
    service.compile(f"{example.source}\n# warm-up\n", TARGET)
    identifier = ""
    for number in range(ROUNDS):
        timing = service.compile(f"{example.source}\n# {number}\n", TARGET)
        if timing.status != "complete":
            raise RuntimeError(f"{example.name}: {timing.status}, {timing.id}")
        through_http.append(timing.last_event)
        first_stage.append(timing.first_stage)
        identifier = timing.id
        warm.stdin.write("again\n")
        warm.stdin.flush()
        bare.append(float(warm.stdout.readline()))
    warm.stdin.close()
    warm.wait()
    for _ in range(FRESH_ROUNDS):
        start = time.perf_counter()
        if _bare("once", str(file)).wait() != 0:
            raise RuntimeError(f"{example.name} could not be compiled in a fresh process")
        fresh.append((time.perf_counter() - start) * 1000)
    a, b, c = statistics.median(through_http), statistics.median(bare), statistics.median(fresh)
    return {
        "kernel": example.name,
        "id": identifier,
        "through_http_ms": a,
        "first_stage_ms": statistics.median(first_stage),
        "bare_warm_ms": b,
        "fresh_process_ms": c,
        "a_by_b": a / b,
        "c_by_a": c / a,
    }


def measure_stored(service: Service, identifier: str) -> dict[str, float]:
    """Time the answers about a stored result: one after another, then by several clients at once."""
    path = f"/api/v1/compilations/{identifier}"

    def ask(count: int) -> list[float]:
        connection = service.connect()
        times = []
        for _ in range(count):
            start = time.perf_counter()
            connection.request("GET", path)
            connection.getresponse().read()
            times.append((time.perf_counter() - start) * 1000)
        connection.close()
        return times

    alone = ask(STORED_REQUESTS)
    start = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        list(clients.map(ask, [STORED_REQUESTS // CLIENTS] * CLIENTS))
    together = time.perf_counter() - start
    return {
        "median_ms": statistics.median(alone),
        "p95_ms": statistics.quantiles(alone, n=20)[-1],
        "requests_per_second": STORED_REQUESTS // CLIENTS * CLIENTS / together,
    }


def measure_memory(service: Service, source: str) -> dict[str, float]:
    """Weigh the server and its zygotes, idle and while a kernel is compiled (proportional set size)."""
    idle = service.memory_by_process()
    peak: dict[int, float] = {}
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            for pid, megabytes in service.memory_by_process().items():
                peak[pid] = max(peak.get(pid, 0.0), megabytes)

    watcher = threading.Thread(target=watch)
    watcher.start()
    service.compile(f"{source}\n# memory\n", TARGET)
    done.set()
    watcher.join()
    zygotes = [megabytes for pid, megabytes in idle.items() if pid != service.process]
    return {
        "server_mb": idle[service.process],
        "zygotes_idle_mb": sum(zygotes),
        "largest_zygote_mb": max(zygotes, default=0.0),
        "largest_child_mb": max((peak[pid] for pid in peak if pid not in idle), default=0.0),
    }


def measure_compilation(service: Service) -> dict[str, Any]:
    """Measure everything, print the tables, return the figures."""
    examples = load_examples()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'':26} {'(a) http':>9} {'first':>7} {'(b) bare':>9} {'(c) fresh':>10} {'a/b':>6} {'c/a':>6}")
        rows = []
        for example in examples:
            row = measure_kernel(service, example, Path(folder))
            rows.append(row)
            print(
                f"{row['kernel']:26} {row['through_http_ms']:9.0f} {row['first_stage_ms']:7.0f} "
                f"{row['bare_warm_ms']:9.0f} {row['fresh_process_ms']:10.0f} "
                f"{row['a_by_b']:6.2f} {row['c_by_a']:6.2f}",
                flush=True,
            )
    stored = measure_stored(service, rows[0]["id"])
    heaviest = next(example for example in examples if example.name == "flash_attention")
    memory = measure_memory(service, heaviest.source)
    summary = {
        "a_by_b_median": statistics.median(row["a_by_b"] for row in rows),
        "first_stage_ms_median": statistics.median(row["first_stage_ms"] for row in rows),
        "c_by_a_vector_add": rows[0]["c_by_a"],
    }
    print(
        f"\nmedian a/b {summary['a_by_b_median']:.2f}; "
        f"first stage {summary['first_stage_ms_median']:.0f} ms; "
        f"vector add c/a {summary['c_by_a_vector_add']:.1f}\n"
        f"stored result: {stored['median_ms']:.1f} ms median, {stored['p95_ms']:.1f} ms p95, "
        f"{stored['requests_per_second']:.0f} requests/s with {CLIENTS} clients\n"
        f"memory (PSS): server {memory['server_mb']:.0f} MB, all zygotes {memory['zygotes_idle_mb']:.0f} MB, "
        f"largest {memory['largest_zygote_mb']:.0f} MB, largest child {memory['largest_child_mb']:.0f} MB"
    )
    return {"summary": summary, "kernels": rows, "stored": stored, "memory": memory}
