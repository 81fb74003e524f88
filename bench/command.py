"""The command line benchmark: time `compile` of a vector addition to SASS, from start to end of the process.

With a server, for a new source and for a stored source; and without a server. The three are measured in turn,
so that a change in the machine's speed affects all.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.bare import TARGET
from bench.row import Row
from bench.service import Service
from explorer.examples import find_example

ROUNDS = 5
MOST_SECONDS = 1.5


def compile_seconds(
    file: Path, server: str, python: str = sys.executable, folder: Path | None = None
) -> float:
    """Return the seconds of one command. `python` and `folder` may belong to another checkout."""
    start = time.perf_counter()
    subprocess.run(
        [python, "-m", "explorer", "compile", str(file), "--target", TARGET, "--stage", "sass"],
        env={**os.environ, "TRITON_EXPLORER_SERVER": server},
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - start


def measure_command(service: Service) -> dict[str, Any]:
    """Run the benchmark, print its table, and return the figures in seconds."""
    example = find_example("vector_add")
    assert example is not None
    figures: dict[str, list[float]] = {"server_new": [], "server_stored": [], "alone": []}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            file = Path(folder) / f"{number}.py"
            file.write_text(f"{example.source}\n# command {number}\n", encoding="utf-8")
            figures["server_new"].append(compile_seconds(file, service.url))
            figures["server_stored"].append(compile_seconds(file, service.url))
            figures["alone"].append(compile_seconds(file, "none"))
    medians = {name: statistics.median(seconds) for name, seconds in figures.items()}
    rows = [
        Row("compile, a server is asked", medians["server_new"], "s", MOST_SECONDS),
        Row("compile, the server has the result", medians["server_stored"], "s", MOST_SECONDS),
        Row("compile, no server", medians["alone"], "s"),
    ]
    for row in rows:
        print(row)
    return {"median_seconds": medians, "seconds": figures}
