"""Triton's own profiler: the time of each launch, from CUPTI, and the files that it writes.

A launch is told from others by the scope around it. One session at a time: CUPTI serves one subscriber.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton.profiler as proton

scope = proton.scope


class ProtonFailed(Exception):
    """Proton has written nothing, or not what was launched."""


@dataclass(frozen=True)
class Spread:
    """Median, and 20 % and 80 % quantiles."""

    median: float
    low: float
    high: float


def profile(body: Callable[[], None]) -> bytes:
    """Call `body` under Proton; return its tree of scopes and kernels, a hatchet file.

    Raises:
        ProtonFailed: it cannot start or end, or has written nothing.
    """
    return _session(body, suffix="hatchet", data="tree", hook="triton")


def trace_instrumented(body: Callable[[], None]) -> bytes:
    """Call `body` with kernels that record the scopes that they mark; return a Chrome trace.

    Raises:
        ProtonFailed: it cannot start or end, or has written nothing.
    """
    return _session(body, suffix="chrome_trace", data="trace", backend="instrumentation")


def _session(body: Callable[[], None], suffix: str, **options: Any) -> bytes:
    with tempfile.TemporaryDirectory(prefix="proton-") as folder:
        name = Path(folder) / "profile"
        try:
            proton.start(str(name), **options)
        except RuntimeError as error:
            raise ProtonFailed(f"Proton cannot start: {error}") from error
        try:
            body()
        except BaseException:
            with contextlib.suppress(RuntimeError):  # after a GPU has gone wrong, CUPTI fails as well
                proton.finalize()
            raise
        try:
            proton.finalize()
        except RuntimeError as error:
            raise ProtonFailed(f"Proton cannot end: {error}") from error
        written = name.with_suffix(f".{suffix}")
        if not written.is_file() or not written.stat().st_size:
            raise ProtonFailed(f"Proton has written no {suffix} file. Is CUPTI in use by another profiler?")
        return written.read_bytes()


def times_ns(hatchet: bytes) -> dict[str, float]:
    """Add up the time of the kernels inside of each scope at the top of the tree, by the scope's name.

    Raises:
        ProtonFailed: it is no such tree, because it was not written to its end.
    """
    times: dict[str, float] = {}
    try:
        root, *_devices = json.loads(hatchet)
        for node in root["children"]:
            if node["children"]:
                name = node["frame"]["name"]
                times[name] = times.get(name, 0.0) + _kernels_ns(node)
    except (ValueError, KeyError, TypeError):
        raise ProtonFailed(f"Proton has written {len(hatchet):,} bytes: no tree of kernels.") from None
    return times


def samples_ns(times: dict[str, float], prefix: str, count: int) -> list[float]:
    """Pick the times of the scopes "<prefix> 0", "<prefix> 1", … in their order.

    Raises:
        ProtonFailed: one of them holds no kernel.
    """
    try:
        return [times[f"{prefix} {index}"] for index in range(count)]
    except KeyError as missing:
        raise ProtonFailed(f"Proton has seen no kernel in the scope {missing}.") from None


def spread(samples: list[float]) -> Spread:
    """The median of `samples` and their 20 % and 80 % quantiles, between samples linearly."""
    if len(samples) == 1:
        return Spread(samples[0], samples[0], samples[0])
    tenths = statistics.quantiles(samples, n=10, method="inclusive")
    return Spread(median=tenths[4], low=tenths[1], high=tenths[7])


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(found for child in node["children"] for found in _nodes(child))]


def _kernels_ns(node: dict[str, Any]) -> float:
    return sum(float(found["metrics"].get("time (ns)", 0)) for found in _nodes(node) if not found["children"])
