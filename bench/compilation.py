"""The compilation benchmark: time every gallery kernel on sm_90 in three ways.

(a) From the request to the last event through HTTP: cold cache, warm server, all stages and passes captured.
(b) `triton.compile` of the same specialization in a warm process, and one run of the disassembler.
(c) A fresh process for each compilation, which imports torch and triton.

Also: the time to the first stage, requests for stored results (response time, requests per second), and
memory. Rounds of (a) and (b) alternate, so that a change in the machine's speed affects both.
"""

from __future__ import annotations

import itertools
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil

from bench.bare import TARGET
from bench.row import Row
from bench.service import Service
from explorer.examples import Example, load_examples

ROUNDS = 5
FRESH_ROUNDS = 2
STORED_REQUESTS = 4000
CLIENTS = 8


def _bare(action: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-m", "bench.bare", action, *arguments]
    return subprocess.Popen(command, text=True, stderr=subprocess.DEVNULL, **options)


def measure_kernel(service: Service, example: Example, folder: Path) -> dict[str, Any]:
    """Time one gallery kernel in all three ways."""
    file = folder / f"{example.name}.pickle"
    if _bare("specialize", example.name, str(file)).wait() != 0:
        raise RuntimeError(f"{example.name} could not be specialized")
    through_http, first_stage, bare, fresh = [], [], [], []
    warm = _bare("serve", str(file), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert warm.stdin is not None and warm.stdout is not None
    if warm.stdout.readline().strip() != "ready":
        raise RuntimeError(f"{example.name} could not be compiled by bench.bare")
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


def addresses_of_page(service: Service, identifier: str) -> list[str]:
    """Return what Chromium requests for a permanent link: the page, files, documents and texts."""
    page, document = f"/k/{identifier}", f"/api/v1/compilations/{identifier}"
    files = re.findall(r'(?:href|src)="(/[^"]*\.(?:js|css|svg|json)|/api/[^"]*)"', service.text(page))
    stages = [f"{document}/stages/{stage}" for stage in ("ttgir", "sass")]
    texts = [f"{stage}{part}" for stage in stages for part in ("", "/lines?from=1&to=250", "/locations")]
    return list(dict.fromkeys([page, *files, document, *texts, f"{document}/registers"]))


def measure_stored(service: Service, paths: list[str]) -> dict[str, float]:
    """Time requests for a stored result: sequential first, then from several clients in parallel."""

    def ask(count: int) -> list[float]:
        connection = service.connect()
        times = []
        for path in itertools.islice(itertools.cycle(paths), count):
            start = time.perf_counter()
            connection.request("GET", path, headers={"Accept-Encoding": "gzip, deflate, br, zstd"})
            response = connection.getresponse()
            response.read()
            times.append((time.perf_counter() - start) * 1000)
            if response.status != 200:
                raise RuntimeError(f"{path}: {response.status}")
        connection.close()
        return times

    alone = ask(STORED_REQUESTS)
    start = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        parts = list(clients.map(ask, [STORED_REQUESTS // CLIENTS] * CLIENTS))
    seconds = time.perf_counter() - start
    together = [each for part in parts for each in part]
    return {
        "median_ms": statistics.median(alone),
        "p95_ms": statistics.quantiles(alone, n=20)[-1],
        "requests_per_second": len(together) / seconds,
        "p95_of_clients_ms": statistics.quantiles(together, n=20)[-1],
    }


def rows_of_stored(service: Service, identifier: str) -> tuple[list[Row], dict[str, Any]]:
    """Measure requests for a stored result: its document alone, and all that its page requests."""
    rows, figures = [], {}
    for what, paths in (
        ("document", [f"/api/v1/compilations/{identifier}"]),
        ("page", addresses_of_page(service, identifier)),
    ):
        figures[what] = found = measure_stored(service, paths)
        note = f"alone {found['median_ms']:.1f} ms, p95 {found['p95_ms']:.1f} ms; {len(paths)} addresses"
        name = f"stored result, its {what}, {CLIENTS} clients"
        rows.append(Row(name, found["requests_per_second"], "1/s", 1000, is_least=True, note=note))
        rows.append(Row(f"{name}: p95", found["p95_of_clients_ms"], "ms", 5))
    return rows, figures


def measure_memory(service: Service, source: str) -> dict[str, float]:
    """Measure the memory of the server, of the zygotes and of nvdisasm, idle; and of a compilation.

    The figures are proportional set sizes (PSS) in MB. The zygotes of all Triton versions are counted, with
    the processes that wait for jobs.
    """
    idle = service.memory_by_process()
    parts = {pid: _part_of(pid) for pid in idle}
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
    sums = {
        part: sum(megabytes for pid, megabytes in idle.items() if parts[pid] == part)
        for part in ("server", "zygotes", "nvdisasm")
    }
    return {
        **{f"{part}_mb": megabytes for part, megabytes in sums.items()},
        "largest_child_mb": max((peak[pid] for pid in peak if pid not in idle), default=0.0),
    }


def _part_of(pid: int) -> str:
    """Return the part of a process: the jails of nvdisasm, the jails of the zygotes, or the server."""
    try:
        process = psutil.Process(pid)
        if any("nvdisasm" in part for part in process.cmdline()):
            return "nvdisasm"
        is_in_jail = any(each.name() == "bwrap" for each in (process, *process.parents()))
    except psutil.NoSuchProcess:
        return ""
    return "zygotes" if is_in_jail else "server"


def measure_compilation(service: Service) -> dict[str, Any]:
    """Run the benchmark, print its tables, and return the figures."""
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
    rows_stored, stored = rows_of_stored(service, rows[0]["id"])
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
        f"memory (PSS): server {memory['server_mb']:.0f} MB, zygotes {memory['zygotes_mb']:.0f} MB, "
        f"nvdisasm {memory['nvdisasm_mb']:.0f} MB, largest child {memory['largest_child_mb']:.0f} MB"
    )
    for row_stored in rows_stored:
        print(row_stored)
    return {"summary": summary, "kernels": rows, "stored": stored, "memory": memory}
