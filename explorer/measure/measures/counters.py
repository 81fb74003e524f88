"""What the hardware counts over one launch with a cold cache: bytes, operations, pipes, stalls.

By Nsight Compute; where it is not on the host, by the CUPTI that comes with Triton.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict

from explorer.measure import cupti, cupti_sampling, nsight_compute, opcodes
from explorer.measure.bench import Bench, Launch
from explorer.measure.measures.samples import code_of
from explorer.measure.measures.time import L2Flush
from explorer.measure.metrics import NoCounters
from explorer.measurements import Counters, Level

SECTOR_BYTES = 32
#: What one wavefront can bring out of shared memory: 32 banks of 4 bytes.
WAVEFRONT_BYTES = 128
#: Operations of one instruction of a thread. The half-precision ones work on two numbers at once.
OPERATIONS = {
    "fp32": {"fadd": 1, "fmul": 1, "ffma": 2},
    "fp16": {"hadd": 2, "hmul": 2, "hfma": 4},
    "fp64": {"dadd": 1, "dmul": 1, "dfma": 2},
    "int32": {"integer": 1},
    "conversion": {"conversion": 1},
}
_THREADS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
_TENSOR = re.compile(
    r"sm__ops_path_tensor_src_(?P<type>[a-z]+\d+)(?P<to>_dst_\w+?)?(?P<sparse>_sparsity_(?:on|off))?\.sum"
)
_PIPE = re.compile(
    r"sm__(?:pipe_(\w+)_cycles_active|inst_executed_pipe_(\w+))\.avg\.pct_of_peak_sustained_active"
)
_STALL = re.compile(r"smsp__pcsamp_warps_issue_stalled_(\w+?)(?<!_not_issued)(?:\.sum)?")


def measure(bench: Bench) -> None:
    bench.progress("Counting with Nsight Compute")
    try:
        profile = nsight_compute.profile(bench)
    except NoCounters as reason:
        bench.tell(_without_nsight_compute(bench, str(reason)))
        return
    bench.tell(counters(profile.metrics, profile.tool))


def _without_nsight_compute(bench: Bench, reason: str) -> Counters:
    launch = bench.launch
    # In this order: after it has counted, CUPTI samples nothing more in this process.
    bench.progress("Sampling with CUPTI", 0.3)
    stalled = _stalls_by_cupti(bench)
    bench.progress("Counting with CUPTI", 0.6)
    flush = L2Flush()

    def prepare() -> None:
        launch.restore()
        flush()

    try:
        counted = cupti.count(prepare, launch.run)
    except NoCounters as failure:
        both = reason if str(failure) in reason else f"{reason} {failure}"
        return Counters(reason=both, tool="CUPTI" if stalled else "", stalls=stalled)
    finally:
        launch.restore()
    found = counters(counted.metrics, counted.tool)
    arithmetic = _arithmetic(launch, counted.threads)
    return dataclasses.replace(found, operations={**found.operations, **arithmetic}, stalls=stalled)


def _stalls_by_cupti(bench: Bench) -> dict[str, float]:
    """Samples by what warps were waiting for. Empty: CUPTI cannot sample here."""
    try:
        sampled = cupti_sampling.sampled(bench)
    except NoCounters:
        return {}
    found: dict[str, float] = defaultdict(float)
    for stalled in sampled.values():
        for reason, samples in stalled.items():
            found[reason] += samples
    return dict(found)


def _arithmetic(launch: Launch, threads: dict[int, float]) -> dict[str, float]:
    """Operations outside of the tensor cores, from how often each instruction was executed."""
    if not threads:
        return {}
    return opcodes.operations(threads, code_of(launch))


def counters(metrics: dict[str, float], tool: str) -> Counters:
    """Sort Nsight Compute's metrics of one launch into what they say."""
    return Counters(
        reason="",
        tool=tool,
        bytes=memory_bytes(metrics),
        operations=operations(metrics),
        pipes=pipes(metrics),
        stalls=stalls(metrics),
        metrics=metrics,
    )


def memory_bytes(metrics: dict[str, float]) -> dict[Level, float]:
    """Bytes that crossed each level of memory.

    L2: those between it and the multiprocessors, in sectors. `lts__t_bytes`, larger, also has what it
    exchanges with DRAM and with its other half. L1: those that loads and stores look up, and those that the
    bulk copy engine (TMA) carries past the tags. Shared: its wavefronts, as if each brought 128 bytes, so
    that what bank conflicts cost is in it.
    """
    found: dict[Level, float] = {}
    if "dram__bytes.sum" in metrics:
        found["dram"] = metrics["dram__bytes.sum"]
    if "lts__t_sectors_srcunit_tex.sum" in metrics:
        found["l2"] = SECTOR_BYTES * metrics["lts__t_sectors_srcunit_tex.sum"]
    if "l1tex__t_bytes.sum" in metrics:
        found["l1"] = metrics["l1tex__t_bytes.sum"] + sum(
            value
            for name, value in metrics.items()
            if "_bytes_mem_global_op_tma_" in name and name.endswith(".sum")
        )
    wavefronts = metrics.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")
    if wavefronts is not None:
        # Some are not for data: a warp of a kernel without shared memory has one too.
        others = metrics.get("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc.sum", 0.0)
        found["shared"] = WAVEFRONT_BYTES * max(wavefronts - others, 0.0)
    return found


def operations(metrics: dict[str, float]) -> dict[str, float]:
    """Operations by kind, those that were executed at all. A multiply-add counts twice."""
    found = {f"tensor {type_}": count for type_, count in _tensor_operations(metrics).items()}
    for kind, weights in OPERATIONS.items():
        found[kind] = sum(
            weight * metrics.get(_THREADS.format(instruction), 0.0) for instruction, weight in weights.items()
        )
    return {kind: count for kind, count in found.items() if count}


def pipes(metrics: dict[str, float]) -> dict[str, float]:
    """The share of the cycles of active multiprocessors in which each pipe was busy."""
    return {
        matched.group(1) or matched.group(2): value / 100
        for name, value in metrics.items()
        if (matched := _PIPE.fullmatch(name))
    }


def stalls(metrics: dict[str, float]) -> dict[str, float]:
    """Samples of warps by what they were waiting for, where there are any."""
    return {
        matched.group(1): value
        for name, value in metrics.items()
        if value and not name.endswith("_not_issued") and (matched := _STALL.fullmatch(name))
    }


def _tensor_operations(metrics: dict[str, float]) -> dict[str, float]:
    """Add up the tensor cores' operations by the type that they read.

    An architecture counts a type as a whole, or apart by what is written and by sparsity, or both ways: of
    these, that with the fewest distinctions holds all of them.
    """
    by_distinctions: dict[str, dict[tuple[bool, bool], float]] = defaultdict(lambda: defaultdict(float))
    for name, value in metrics.items():
        matched = _TENSOR.fullmatch(name)
        if matched:
            distinctions = (matched["to"] is not None, matched["sparse"] is not None)
            by_distinctions[matched["type"]][distinctions] += value
    return {type_: counts[min(counts, key=sum)] for type_, counts in by_distinctions.items()}
