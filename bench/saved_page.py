"""Time the first download of a saved page, for each kernel of the gallery.

Nothing is cached: each result is compiled just before. A second download uses the cache of the first.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

from bench.bare import TARGET
from bench.row import Row
from bench.service import Service
from explorer.examples import load_examples

ROUNDS = 3
MOST_SECONDS = 1.0


def export_seconds(service: Service, compilation: str) -> float:
    """Return the seconds until a saved page is complete."""
    connection = service.connect()
    start = time.perf_counter()
    try:
        connection.request("GET", f"/api/v1/compilations/{compilation}/export.html")
        response = connection.getresponse()
        data = response.read()
        if response.status != 200:
            raise RuntimeError(f"export.html: {response.status} {data[:300]!r}")
    finally:
        connection.close()
    return time.perf_counter() - start


def measure_saved_page(service: Service) -> dict[str, Any]:
    """Run the benchmark, print its table, and return the figures in seconds."""
    figures: dict[str, dict[str, list[float]]] = {}
    for example in load_examples():
        figures[example.name] = {"first": [], "again": []}
        for number in range(ROUNDS):
            timing = service.compile(f"{example.source}\n# saved page {number}\n", TARGET)
            for seconds in figures[example.name].values():
                seconds.append(export_seconds(service, timing.id))
    for name, measured in figures.items():
        first, again = measured["first"], f"again {statistics.median(measured['again']):.2f} s"
        print(
            Row(
                f"first saved page of {name}: median",
                statistics.median(first),
                "s",
                MOST_SECONDS,
                note=again,
            )
        )
        print(Row(f"first saved page of {name}: worst of {ROUNDS}", max(first), "s", MOST_SECONDS))
    return figures
