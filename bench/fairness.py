"""Measure how a flood of compilations by one client delays another client.

One client submits 1,000 different sources from eight connections, each again until it is accepted. Meanwhile
another client compiles one kernel at a time, as before the flood.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Event
from typing import Any

from bench.bare import TARGET
from bench.row import Row
from bench.service import Service
from explorer.examples import find_example

FLOOD = 1000
CONNECTIONS = 8
SINGLES = 20
#: How often a refused submission is sent again.
_AGAIN_SECONDS = 0.05
#: Between the compilations of the other client, as of a user who looks at the result.
_PAUSE_SECONDS = 0.5
#: The median of another client's compilations, as a multiple of their time alone.
_MOST_TIMES = 2.0
_FLOODING_ADDRESS = "127.0.0.2"


def _flood(port: int, source: str, is_over: Event, counts: Any) -> None:
    """Submit until all sources are accepted. `counts` are the accepted and the refused submissions."""

    def submit(numbers: range) -> None:
        connection = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=120, source_address=(_FLOODING_ADDRESS, 0)
        )
        for number in numbers:
            body = json.dumps({"source": f"{source}# flood {number}\n", "target": TARGET})
            while not is_over.is_set():
                headers = {"Content-Type": "application/json"}
                connection.request("POST", "/api/v1/compilations", body, headers)
                response = connection.getresponse()
                response.read()
                is_refused = response.status >= 400
                with counts.get_lock():
                    counts[is_refused] += 1
                if not is_refused:
                    break
                time.sleep(_AGAIN_SECONDS)
        connection.close()

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        list(threads.map(submit, [range(first, FLOOD, CONNECTIONS) for first in range(CONNECTIONS)]))


def _singles(service: Service, source: str, name: str) -> list[float]:
    """Return the milliseconds of compilations, one after another. A refused one ends the benchmark."""
    times = []
    for number in range(SINGLES):
        time.sleep(_PAUSE_SECONDS)
        timing = service.compile(f"{source}# {name} {number}\n", TARGET)
        if timing.status != "complete":
            raise RuntimeError(f"The compilation {timing.id} is {timing.status}.")
        times.append(timing.last_event)
    return times


def measure_fairness(service: Service) -> dict[str, object]:
    """Run the benchmark, print its table, and return the figures."""
    example = find_example("vector_add")
    assert example is not None
    source = f"{example.source}\n"
    alone = _singles(service, source, "alone")
    context = multiprocessing.get_context("spawn")
    is_over, counts = context.Event(), context.Array("l", 2)
    flood = context.Process(target=_flood, args=(service.port, source, is_over, counts))
    flood.start()
    while counts[1] == 0 and flood.is_alive():  # until its share of the queue is full
        time.sleep(0.01)
    begun = time.monotonic()
    during = _singles(service, source, "during")
    lasted = time.monotonic() - begun
    has_lasted = flood.is_alive()
    is_over.set()
    flood.join()
    if not has_lasted:
        raise RuntimeError("The flood was over before the measurement.")
    for name, times in (("alone", alone), ("during the flood", during)):
        print(Row(f"A compilation {name}, median", statistics.median(times), "ms"))
        print(Row(f"A compilation {name}, worst", max(times), "ms"), flush=True)
    times_median = statistics.median(during) / statistics.median(alone)
    times_worst = max(during) / statistics.median(alone)
    print(Row("Times as long, median", times_median, "x", _MOST_TIMES))
    print(Row("Times as long, worst by the median alone", times_worst, "x"))
    print(f"The flood: {counts[0]} accepted and {counts[1]} refused, {lasted:.1f} s beside the other client")
    return {
        "alone_ms": alone,
        "during_ms": during,
        "times_median": times_median,
        "times_worst": times_worst,
        "flood_accepted": counts[0],
        "flood_refused": counts[1],
    }
