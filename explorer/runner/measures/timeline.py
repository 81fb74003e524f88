"""Records the scopes of each warp by Proton's instrumentation of the kernel.

The kernel is compiled again, with a read of the clock at the start and end of each scope. This makes the
kernel slower, so that its times differ from the times of the plain kernel.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import math
import re
from collections import defaultdict
from typing import Any

import torch
import triton.profiler.language as profiler_language

from explorer.model.measurements import Scope, Timeline
from explorer.model.measurements.limits import MOST_NAME_CHARACTERS, MOST_SCOPE_NAMES, MOST_SCOPES
from explorer.pipeline.scopes import marked_lines
from explorer.runner import gpu
from explorer.runner.error_hints import is_fatal
from explorer.runner.measures.context import MeasureContext
from explorer.runner.profilers import proton

#: A trace contains all blocks. Its file has about 250 bytes per scope.
MOST_BLOCKS = 16_384
UNMARKED = (
    "The kernel marks no scopes. Mark them with “import triton.profiler.language as pl” and "
    '“with pl.scope("load"):” around the code to time.'
)
_PLACE = re.compile(r".*\bCore(\d+) CTA(\d+)")
_WARP = re.compile(r"warp (\d+)\b.*")


def measure(context: MeasureContext) -> None:
    context.report_progress("Tracing the scopes in the kernel")
    if not marked_lines(context.request.source):
        context.emit_measurement(Timeline(UNMARKED))
        return
    blocks = math.prod(context.launch.facts.grid)
    if blocks > MOST_BLOCKS:
        context.emit_measurement(
            Timeline(
                f"The launch has {blocks:,} programs. The limit of a trace is {MOST_BLOCKS:,}. "
                "Reduce the sizes."
            )
        )
        return
    try:
        trace = _traced(context)
    except (proton.ProtonFailed, RuntimeError, TypeError) as failure:
        if is_fatal(failure):
            raise
        context.emit_measurement(Timeline(f"The kernel could not be traced: {failure}"[:1000]))
        return
    context.keep_file("timeline.chrome_trace.json.gz", "application/gzip", gzip.compress(trace))
    clock_mhz = gpu.clock_at_work_mhz(gpu.conditions("after"))
    context.emit_measurement(timeline(json.loads(trace), clock_mhz))


def timeline(trace: dict[str, Any], clock_mhz: float) -> Timeline:
    """Read a Chrome trace of Proton.

    Blocks start at times of the GPU's timer. In a block, time is in cycles of its multiprocessor, which
    Proton writes as if each were a nanosecond ("Frequency (MHz)": 1000).
    """
    by_block: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for event in trace["traceEvents"]:
        place = _PLACE.fullmatch(str(event["pid"]))
        if place is not None:
            by_block[int(place[2])].append(event)
    scopes = [scope for block in sorted(by_block) for scope in _scopes(block, by_block[block], clock_mhz)]
    if not scopes:
        return Timeline(UNMARKED)
    start_ns = min(scope.start_ns for scope in scopes)
    names = set(list(dict.fromkeys(scope.name for scope in scopes))[:MOST_SCOPE_NAMES])
    moved = (dataclasses.replace(scope, start_ns=scope.start_ns - start_ns) for scope in scopes)
    shown = [scope for scope in moved if scope.name in names][:MOST_SCOPES]
    return Timeline("", tuple(shown), cut=len(scopes) - len(shown))


def _scopes(block: int, events: list[dict[str, Any]], clock_mhz: float) -> list[Scope]:
    first_us = min(float(event["ts"]) for event in events)
    found = []
    for event in events:
        place, warp = _PLACE.fullmatch(str(event["pid"])), _WARP.fullmatch(str(event["tid"]))
        ns_of_unit = 1e6 / clock_mhz if "Frequency (MHz)" in event.get("args", {}) else 1000.0
        assert place is not None
        found.append(
            Scope(
                name=str(event["name"])[:MOST_NAME_CHARACTERS],
                block=block,
                multiprocessor=int(place[1]),
                warp=int(warp[1]) if warp is not None else 0,
                start_ns=1000 * first_us + (float(event["ts"]) - first_us) * ns_of_unit,
                duration_ns=float(event["dur"]) * ns_of_unit,
            )
        )
    return found


def _traced(context: MeasureContext) -> bytes:
    launch = context.launch
    # By default, Proton does not record scopes of kernels in Triton's language, because the compiler moves
    # their operations. Here the user has requested these scopes.
    profiler_language.enable_semantic("triton")

    def body() -> None:
        launch.recompile_and_run()
        torch.cuda.synchronize()

    launch.restore()
    try:
        return proton.trace_instrumented(body)
    finally:
        launch.restore()
