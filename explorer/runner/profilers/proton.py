"""Triton's profiler: the time of each launch, from CUPTI, and the files that it writes.

Scopes distinguish the launches. There is one session at a time, because CUPTI serves one subscriber.
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
    """Proton wrote no file, or a file without the launches."""


@dataclass(frozen=True)
class Spread:
    """The median, and the 20 % and 80 % quantiles."""

    median: float
    low: float
    high: float


def profile(body: Callable[[], None]) -> bytes:
    """Call `body` under Proton. Return its tree of scopes and kernels, a hatchet file.

    Raises:
        ProtonFailed: Proton cannot start or end, or wrote nothing.
    """
    return _session(body, suffix="hatchet", data="tree", hook="triton")


def trace_instrumented(body: Callable[[], None]) -> bytes:
    """Call `body` with kernels that record their scopes. Return a Chrome trace.

    Raises:
        ProtonFailed: Proton cannot start or end, or wrote nothing.
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
            with contextlib.suppress(RuntimeError):  # After a fatal error of the GPU, CUPTI fails, too.
                proton.finalize()
            raise
        try:
            proton.finalize()
        except RuntimeError as error:
            raise ProtonFailed(f"Proton cannot end: {error}") from error
        written = name.with_suffix(f".{suffix}")
        if not written.is_file() or not written.stat().st_size:
            raise ProtonFailed(f"Proton wrote no {suffix} file. Check whether another profiler uses CUPTI.")
        return written.read_bytes()


def times_ns(hatchet: bytes) -> dict[str, float]:
    """Add up the time of the kernels inside of each top-level scope, by the scope's name.

    Raises:
        ProtonFailed: the tree is invalid, because it was not written to its end.
    """
    times: dict[str, float] = {}
    try:
        root, *_devices = json.loads(hatchet)
        for node in root["children"]:
            if node["children"]:
                name = node["frame"]["name"]
                times[name] = times.get(name, 0.0) + _kernels_ns(node)
    except (ValueError, KeyError, TypeError):
        raise ProtonFailed(f"Proton wrote {len(hatchet):,} bytes that are not a tree of kernels.") from None
    return times


def samples_ns(times: dict[str, float], prefix: str, count: int) -> list[float]:
    """Return the times of the scopes "<prefix> 0", "<prefix> 1", … in their order.

    Raises:
        ProtonFailed: a scope has no kernel.
    """
    try:
        return [times[f"{prefix} {index}"] for index in range(count)]
    except KeyError as missing:
        raise ProtonFailed(f"Proton recorded no kernel in the scope {missing}.") from None


def spread(samples: list[float]) -> Spread:
    """Return the median of `samples` and the 20 % and 80 % quantiles, interpolated linearly."""
    if len(samples) == 1:
        return Spread(samples[0], samples[0], samples[0])
    tenths = statistics.quantiles(samples, n=10, method="inclusive")
    return Spread(median=tenths[4], low=tenths[1], high=tenths[7])


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(found for child in node["children"] for found in _nodes(child))]


def _kernels_ns(node: dict[str, Any]) -> float:
    return sum(float(found["metrics"].get("time (ns)", 0)) for found in _nodes(node) if not found["children"])
