"""Facts of runs for the tests of rooflines and hints: recorded facts, and small hand-written facts."""

import json
from pathlib import Path

import msgspec

from explorer.analysis.roofline.facts import Facts
from explorer.model import Resources
from explorer.model.hardware import find_target
from explorer.model.measurements import (
    Conditions,
    Counters,
    Environment,
    LaunchFacts,
    Level,
    RunArgument,
    Samples,
    Timing,
    Timings,
)

RECORDED = Path(__file__).parent / "analysis/recorded"
H200 = Environment(
    "NVIDIA H200", "9.0", 132, 150_754_820_096, 62_914_560, 1980.0, 3201.0, 6016, "580.159.04", "3.6.0",
    "2.11", "3.12", (Conditions("after", 1980.0, 3201.0, 690.0, 700.0, 60.0, ("power limit",)),),
)  # fmt: skip


def timed(median_ns):
    return Timings((Timing("proton", "cold", median_ns, median_ns, median_ns, ()),))


def samples(name):
    return msgspec.json.decode((RECORDED / f"{name}.samples.json").read_bytes(), type=Samples)


def counters(name, **operations):
    """Return the counters of a recorded kernel. L2 bytes are those between L2 and multiprocessors."""
    metrics = json.loads((RECORDED / f"{name}.metrics.json").read_text())
    moved: dict[Level, float] = {
        "dram": metrics["dram__bytes.sum"],
        "l2": metrics["lts__t_sectors_srcunit_tex.sum"] * 32,
        "l1": metrics["l1tex__t_bytes.sum"],
        "shared": metrics["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"] * 128,
    }
    done = {name.replace("_", " "): value for name, value in operations.items()}
    return Counters("", "ncu 2025.3.1", bytes=moved, operations=done, metrics=metrics)


def vector_add(**changes):
    """2^28 elements of fp32: x + y."""
    known = {
        "target": find_target("cuda:90"),
        "environment": H200,
        "launch": LaunchFacts(
            "add_kernel", 16, (262_144,),
            tuple(RunArgument(name, "*fp32", None, (2**28,), (1,)) for name in "xyo"),
        ),
        "timings": timed(735_000.0),
        "counters": counters("vector_add", fp32=2.0**28),
        "resources": Resources(registers=26, shared_bytes=0, threads=128),
        "tensor_instructions": False,
    }  # fmt: skip
    return Facts(**{**known, **changes})


def matmul(**changes):
    """8192 × 8192 × 8192 of fp16, tiles of 128 × 128 × 64."""
    known = {
        "target": find_target("cuda:90"),
        "environment": H200,
        "launch": LaunchFacts(
            "matmul_kernel", 34, (4096,),
            tuple(RunArgument(name, "*fp16", None, (8192, 8192), (8192, 1)) for name in "abc"),
        ),
        "timings": timed(1_724_000.0),
        "counters": counters("matmul", tensor_fp16=2.0 * 8192**3),
        "resources": Resources(registers=122, shared_bytes=98_304, threads=256),
        "tensor_instructions": True,
    }  # fmt: skip
    return Facts(**{**known, **changes})


def bare(**changes):
    """Return facts of a kernel for an H100 with only the given fields."""
    return Facts(**{"target": find_target("cuda:90"), **changes})
