"""A hand-written profile for tests without a GPU. Its numbers are round, not measured."""

import base64
import json
from hashlib import sha256

from explorer.model import Run, to_plain
from explorer.model.measurements import (
    Autotuning,
    Check,
    ConfigTiming,
    Counters,
    Environment,
    LaunchFacts,
    OutputCheck,
    ProfileFile,
    ProfileFiles,
    RunArgument,
    Samples,
    Sweep,
    SweepPoint,
    Timing,
    Timings,
)

TRACE = b'{"traceEvents": []}'


def documents(binary_sha256=""):
    """One document of most kinds, by name."""
    return {
        "environment": Environment(
            gpu="NVIDIA H200",
            capability="9.0",
            multiprocessors=132,
            memory_bytes=150_754_820_096,
            l2_bytes=62_914_560,
            sm_clock_mhz=1980.0,
            memory_clock_mhz=3201.0,
            memory_bus_bits=6144,
            driver="580.00",
            triton="3.6.0",
            torch="2.11.0",
            python="3.12.0",
            binary_sha256=binary_sha256,
        ),
        "launch": LaunchFacts(
            "add_kernel",
            12,
            (1024,),
            (
                RunArgument("x_ptr", "*fp32", None, (1_048_576,), (1,)),
                RunArgument("n_elements", "i32", 1_048_576),
            ),
        ),
        "check": Check(
            "",
            "reference",
            (OutputCheck("out_ptr", "*fp32", (1_048_576,), 0.0, 1e-6, 0.0, (0,), 1.0, 1.0, 0, True),),
        ),
        "timings": Timings(
            (
                Timing("proton", "cold", 4000.0, 3900.0, 4200.0, (3900.0, 4000.0, 4200.0)),
                Timing("do_bench", "cold", 5000.0, 4900.0, 5100.0, (4900.0, 5000.0, 5100.0)),
            )
        ),
        "counters": Counters(
            "",
            tool="Nsight Compute 2025.3.1",
            bytes={"dram": 12_582_912.0, "l2": 12_582_912.0, "l1": 12_582_912.0},
            operations={"fp32": 1_048_576.0},
            metrics={"gpu__time_duration.sum": 4000.0},
        ),
        "samples": Samples("Nothing was sampled: the kernel is too short."),
        "sweep": Sweep(
            "vector-add",
            ("size",),
            ("triton", "torch"),
            "GB/s",
            True,
            (
                SweepPoint({"size": 4096}, (10.0, 11.0), (9.0, 10.0), (12.0, 12.0)),
                SweepPoint({"size": 8192}, (None, 22.0), (None, 20.0), (None, 24.0)),
            ),
        ),
        "autotuning": Autotuning(
            (
                ConfigTiming(0, {"BLOCK": 128}, {"num_warps": 4}, 4000.0, 3900.0, 4200.0),
                ConfigTiming(1, {"BLOCK": 64}, {}, None, None, None, "=out of shared memory"),
            ),
            0,
        ),
        "files": ProfileFiles(
            (
                ProfileFile("trace.json", "application/json", base64.b64encode(TRACE).decode()),
                ProfileFile("page.html", "text/html", base64.b64encode(b"<b>").decode()),
            )
        ),
    }


def recording(source, *, example="vector_add", kernel="add_kernel", triton="3.6.0", **changes):
    """A recording file with one run of the first launch of `source`."""
    run = Run("gpu", measures=("check", "time", "sweep", "autotune"))
    request = {
        "kernel": kernel,
        "target": "cuda:90",
        "triton": triton,
        "launch": 0,
        "config": None,
        "options": {},
        "source_sha256": sha256(source.encode()).hexdigest(),
        "run": to_plain(run),
        **changes,
    }
    return {
        "format": 1,
        "example": example,
        "command": "make record",
        "date": "2026-11-20T12:00:00Z",
        "runs": [{"request": request, "measurements": to_plain(documents())}],
    }


def write_recording(folder, source, **changes):
    file = recording(source, **changes)
    path = folder / f"{file['example']}.json"
    path.write_text(json.dumps(file, separators=(",", ":")))
    return path
