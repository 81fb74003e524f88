"""The load benchmark: 200 people compile and 2,000 read at the same time, as Locust plays them.

Locust runs on the same machine, and takes a part of its processors. The people are in `bench.people`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from bench.bare import TARGET
from bench.row import Row
from bench.service import Service
from explorer.examples import find_example, load_examples

COMPILING = 200
READING = 2000
MEASURED_SECONDS = 120
#: Seconds between two kernels of somebody who compiles, and between two results of somebody who reads.
COMPILES_AFTER = (30, 90)
READS_AFTER = (20, 40)
#: So many people who do not wait show how many compilations a second are possible.
_IMPATIENT = 8
_IMPATIENT_SECONDS = 30
_STARTED_PER_SECOND = 100
_READ_STAGES = ("ttir", "ttgir", "ptx", "sass")
_PERCENTS = (50, 95, 99)
_SAMPLE_SECONDS = 0.5
_WHAT = {
    "compilation": "a compilation, to its last event",
    "submission": "its submission",
    "page": "the page of a result",
    "document": "a document",
    "stage": "a stage",
}


def measure_load(
    service: Service, compiling: int = COMPILING, reading: int = READING, seconds: int = MEASURED_SECONDS
) -> dict[str, Any]:
    """Run the benchmark, print its table, and return the figures."""
    ids = [service.perform({"source": each.source, "target": TARGET}).id for each in load_examples()]
    results = {each: _stages(service, each) for each in ids}
    vector_add = find_example("vector_add")
    assert vector_add is not None
    alone = min(
        service.compile(f"{vector_add.source}\n# alone {number}\n", TARGET).last_event for number in range(5)
    )
    work = {
        "compile": compiling,
        "read": reading,
        "compiles_after": COMPILES_AFTER,
        "reads_after": READS_AFTER,
        "source": vector_add.source,
        "results": results,
    }
    with _Watch(service) as watch:
        statistics = play(service.url, work, seconds)
    impatient = {**work, "compile": _IMPATIENT, "read": 0, "compiles_after": (0, 0)}
    possible = [
        each["num_requests"] / _IMPATIENT_SECONDS
        for each in play(service.url, impatient, _IMPATIENT_SECONDS)
        if each["name"] == "compilation"
    ]
    figures: dict[str, Any] = {
        "compile": compiling,
        "read": reading,
        "seconds": seconds,
        "alone_ms": alone,
        "possible_per_second": sum(possible),
        **watch.figures,
    }
    print(Row("a vector add, compiled alone", alone, "ms", note=f"{compiling} compile, {reading} read"))
    for name, what in _WHAT.items():
        found = figures[name] = figures_of([each for each in statistics if each["name"] == name])
        failed = f"{found['failures']} of {found['count']} failed"
        print(Row(f"{what}: each second", found["count"] / seconds, "1/s", note=failed))
        note = f"p50 {found['p50']:.0f}, p99 {found['p99']:.0f} ms"
        print(Row(f"{what}: p95", found["p95"], "ms", note=note))
    print(Row("compilations that are possible", sum(possible), "1/s", note=f"{_IMPATIENT} people, no pauses"))
    for name, value in watch.figures.items():
        what, _, unit = name.rpartition("_")
        print(Row(what.replace("_", " "), value, unit))
    return figures


def _stages(service: Service, result: str) -> list[str]:
    """Return the stages that a reader looks at."""
    stages = service.request("GET", f"/api/v1/compilations/{result}")["stages"]
    return [stage["name"] for stage in stages if stage["name"] in _READ_STAGES]


def play(url: str, work: dict[str, Any], seconds: int) -> list[dict[str, Any]]:
    """Let Locust play the people. Return its statistics of the time when all of them are there."""
    people = work["compile"] + work["read"]
    command = [
        *(sys.executable, "-m", "locust", "--locustfile", str(Path(__file__).with_name("people.py"))),
        *("--headless", "--json", "--skip-log-setup", "--reset-stats", "--host", url),
        *("--users", str(people), "--spawn-rate", str(_STARTED_PER_SECOND)),
        *("--run-time", f"{people // _STARTED_PER_SECOND + seconds}s", "--stop-timeout", "10"),
    ]
    environment = {**os.environ, "TRITON_EXPLORER_BENCH_WORK": json.dumps(work)}
    # Its exit status is 1 if a request has failed, which the statistics say.
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False, text=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def figures_of(statistics: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the number of requests, of failures, and times in milliseconds."""
    times = sorted(
        (float(milliseconds), count)
        for each in statistics
        for milliseconds, count in each["response_times"].items()
    )
    total = sum(count for _, count in times)

    def percentile(percent: int) -> float:
        left = total * percent / 100
        for milliseconds, count in times:
            left -= count
            if left <= 0:
                return milliseconds
        return 0.0

    return {
        "count": sum(each["num_requests"] for each in statistics),
        "failures": sum(each["num_failures"] for each in statistics),
        **{f"p{percent}": percentile(percent) for percent in _PERCENTS},
    }


class _Watch:
    """Measures the memory of the server and the use of the processors until the end of a block."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._web = psutil.Process(service.process)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.figures: dict[str, float] = {}

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        web = [self._web, *self._web.children()]
        begin, machine_begin, web_begin = time.monotonic(), _machine_seconds(), _seconds_of(web)
        web_megabytes = megabytes = 0.0
        while not self._ended.wait(_SAMPLE_SECONDS):
            sizes = self._service.memory_by_process()
            web_megabytes = max(web_megabytes, sum(sizes.get(each.pid, 0) for each in web))
            megabytes = max(megabytes, sum(sizes.values()))
        seconds = time.monotonic() - begin
        self.figures = {
            "memory_of_the_web_process_MB": web_megabytes,
            "memory_of_the_server_MB": megabytes,
            "use_by_the_web_process_cores": (_seconds_of(web) - web_begin) / seconds,
            "use_by_all_and_Locust_cores": (_machine_seconds() - machine_begin) / seconds,
        }


def _seconds_of(processes: list[psutil.Process]) -> float:
    return sum(sum(each.cpu_times()[:2]) for each in processes)


def _machine_seconds() -> float:
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - times.iowait - times.guest - times.guest_nice)
