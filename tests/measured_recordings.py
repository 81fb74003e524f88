"""A profile of a kernel in `analysis/recorded`, with counters, samples and times of a real H200.

The README there says where they are from. The check, the spread of the times and the scopes are made by hand.
"""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from hashlib import sha256

from facts import H200, RECORDED, counters, samples
from recorded import TRACE

from explorer.model import Run, to_plain
from explorer.model.measurements import (
    Check,
    LaunchFacts,
    OutputCheck,
    ProfileFile,
    ProfileFiles,
    Roof,
    Roofs,
    RunArgument,
    Scope,
    Timeline,
    Timing,
    Timings,
)

ELEMENTS = 2**28
COMMAND = "make record"


def source_of(name):
    return (RECORDED / f"{name}.source.txt").read_text()


def vector_add():
    """Return the measurements of an addition of 2^28 fp32 elements."""
    counted = counters("vector_add", fp32=float(ELEMENTS))
    median = counted.metrics["gpu__time_duration.sum"]
    spread = tuple(median * (1 + step / 1000) for step in range(-5, 6))
    tensors = ("x_ptr", "y_ptr", "output_ptr")
    return {
        "environment": H200,
        "launch": LaunchFacts(
            "add_kernel",
            29,
            (ELEMENTS // 1024,),
            tuple(RunArgument(name, "*fp32", None, (ELEMENTS,), (1,)) for name in tensors),
        ),
        "check": Check(
            "",
            "reference",
            (OutputCheck("output_ptr", "*fp32", (ELEMENTS,), 0.0, 1e-6, 0.0, (7,), 0.5, 0.5, 0, True),),
        ),
        "timings": Timings(
            (
                Timing("proton", "cold", median, spread[2], spread[-3], spread),
                Timing("proton", "warm", median * 0.99, median * 0.98, median, spread),
            )
        ),
        "counters": replace(counted, stalls=stalls("vector_add")),
        "samples": samples("vector_add"),
        "timeline": Timeline("", tuple(scopes()), 12),
        "roofs": Roofs((Roof("dram", "memory", 4.38e12, "measured", "a copy of 4 GiB"),)),
        "files": ProfileFiles(
            (ProfileFile("trace.json", "application/json", base64.b64encode(TRACE).decode()),)
        ),
    }


def stalls(name):
    """The samples of all instructions by stall reason."""
    found: dict[str, int] = {}
    for instruction in samples(name).instructions:
        for reason, count in instruction.stalls.items():
            found[reason] = found.get(reason, 0) + count
    return found


def scopes():
    """Return a scope with two nested scopes for each of four warps of two blocks."""
    for block in range(2):
        for warp in range(4):
            start = 1000.0 * block + 10.0 * warp
            yield Scope("program", block, block, warp, start, 900.0)
            yield Scope("load", block, block, warp, start + 50.0, 500.0)
            yield Scope("store", block, block, warp, start + 600.0, 250.0)


def write_measured_recording(folder):
    """Write the recording of the vector addition, with Triton 3.6.0, as it was measured."""
    source = source_of("vector_add")
    request = {
        "kernel": "add_kernel",
        "target": "cuda:90",
        "triton": "3.6.0",
        "launch": 0,
        "config": None,
        "options": {},
        "source_sha256": sha256(source.encode()).hexdigest(),
        "run": to_plain(Run("gpu", measures=("check", "time", "counters", "samples", "timeline", "roofs"))),
    }
    file = {
        "format": 1,
        "example": "measured_vector_add",
        "command": COMMAND,
        "date": "2026-11-20T12:00:00Z",
        "runs": [{"request": request, "measurements": to_plain(vector_add())}],
    }
    (folder / "measured_vector_add.json").write_text(json.dumps(file, separators=(",", ":")))
