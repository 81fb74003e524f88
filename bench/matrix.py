"""The matrix benchmark: time a matrix of the gallery's matmul, and its cells compiled one after another.

The cells are 7 autotune configurations, all targets and two Triton versions. Both ways ask the same server
for results that it does not have. The matrix also counts the metrics of each cell.
With two cores, each way takes minutes.
"""

from __future__ import annotations

import itertools
import os
import time
from typing import Any

from bench.row import Row
from bench.service import Service
from explorer.examples import find_example
from explorer.model.hardware import TARGETS

CONFIGURATIONS = 7
TRITONS = 2
_ASK_AGAIN_SECONDS = 0.2


def measure_matrix(service: Service) -> dict[str, Any]:
    """Run the benchmark, print its table, and return the figures."""
    example = find_example("matmul")
    assert example is not None
    targets = [target.name for target in TARGETS]
    tritons = service.request("GET", "/api/v1/tritons")["versions"][:TRITONS]
    for triton in tritons:
        service.perform({"source": f"{example.source}\n# warm-up\n", "target": targets[0], "triton": triton})
    matrix_seconds, states = _compile_matrix(service, f"{example.source}\n# matrix\n", targets, tritons)
    complete = states.count("complete")
    print(
        Row(f"A matrix of {len(states)} cells", matrix_seconds, "s", note=f"{complete} complete"), flush=True
    )
    source = f"{example.source}\n# single\n"
    start = time.perf_counter()
    singles = [
        service.perform({"source": source, "config": config, "target": target, "triton": triton}).status
        for config, target, triton in itertools.product(range(CONFIGURATIONS), targets, tritons)
    ]
    single_seconds = time.perf_counter() - start
    if sorted(singles) != sorted(states):
        raise RuntimeError("The matrix and the single compilations have different outcomes.")
    print(Row(f"{len(states)} compilations, one after another", single_seconds, "s"))
    ratio = single_seconds / matrix_seconds
    print(Row("How many times as fast the matrix is", ratio, "x", note=f"{os.cpu_count()} cores"))
    return {
        "cells": len(states),
        "complete": complete,
        "tritons": tritons,
        "matrix_seconds": matrix_seconds,
        "single_seconds": single_seconds,
    }


def _compile_matrix(
    service: Service, source: str, targets: list[str], tritons: list[str]
) -> tuple[float, list[str]]:
    """Compile a matrix. Return the seconds that it takes, and the states of its cells."""
    start = time.perf_counter()
    ticket = service.request(
        "POST",
        "/api/v1/matrices",
        {
            "compilation": {"source": source, "target": targets[0]},
            "configurations": [{"config": index} for index in range(CONFIGURATIONS)],
            "targets": targets,
            "tritons": tritons,
        },
    )
    while (document := service.request("GET", ticket["api"]))["is_at_work"]:
        time.sleep(_ASK_AGAIN_SECONDS)
    return time.perf_counter() - start, [cell["state"] for cell in document["cells"]]
