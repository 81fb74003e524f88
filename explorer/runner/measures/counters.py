"""Reads the hardware counters of one launch with a cold cache: bytes, operations, pipes, stalls.

By Nsight Compute, or, if it is not installed, by the CUPTI that comes with Triton.
"""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict

from explorer.model.hardware import BANK_BYTES, BANKS, SECTOR_BYTES
from explorer.model.measurements import Counters, Level
from explorer.runner.measures.context import Launch, MeasureContext
from explorer.runner.measures.samples import code_of
from explorer.runner.measures.time import L2Flush
from explorer.runner.profilers import cupti, cupti_sampling, nsight_compute, opcodes
from explorer.runner.profilers.metrics import NoCounters

#: Operations per instruction of a thread. Half-precision instructions work on two numbers at once.
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


def measure(context: MeasureContext) -> None:
    context.report_progress("Counting with Nsight Compute")
    try:
        profile = nsight_compute.profile(context)
    except NoCounters as reason:
        context.emit_measurement(_without_nsight_compute(context, str(reason)))
        return
    context.emit_measurement(counters(profile.metrics, profile.tool))


def _without_nsight_compute(context: MeasureContext, reason: str) -> Counters:
    launch = context.launch
    # The order matters: after counting, CUPTI takes no samples in this process.
    context.report_progress("Sampling with CUPTI", 0.3)
    stalled = _stalls_by_cupti(context)
    context.report_progress("Counting with CUPTI", 0.6)
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


def _stalls_by_cupti(context: MeasureContext) -> dict[str, float]:
    """Count the samples by stall reason. Return an empty dict if CUPTI cannot sample here."""
    try:
        sampled = cupti_sampling.sampled(context)
    except NoCounters:
        return {}
    found: dict[str, float] = defaultdict(float)
    for stalled in sampled.values():
        for reason, samples in stalled.items():
            found[reason] += samples
    return dict(found)


def _arithmetic(launch: Launch, threads: dict[int, float]) -> dict[str, float]:
    """Count the operations outside of the tensor cores, from the execution count of each instruction."""
    if not threads:
        return {}
    return opcodes.operations(threads, code_of(launch))


def counters(metrics: dict[str, float], tool: str) -> Counters:
    """Convert Nsight Compute's metrics of one launch to a document."""
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
    """Return the bytes that crossed each level of memory.

    L2: between the L2 and the multiprocessors, in sectors. `lts__t_bytes` is larger: it includes the traffic
    with DRAM and with the other half of the L2. L1: the bytes that loads and stores look up, and the bytes
    that the bulk copy engine (TMA) moves past the tags. Shared: the wavefronts, 128 bytes each, so that the
    cost of bank conflicts is included.
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
        # Some wavefronts move no data: a warp of a kernel without shared memory also has a wavefront.
        others = metrics.get("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc.sum", 0.0)
        found["shared"] = BANKS * BANK_BYTES * max(wavefronts - others, 0.0)
    return found


def operations(metrics: dict[str, float]) -> dict[str, float]:
    """Count the executed operations by kind. A multiply-add counts as two."""
    found = {f"tensor {type_}": count for type_, count in _tensor_operations(metrics).items()}
    for kind, weights in OPERATIONS.items():
        found[kind] = sum(
            weight * metrics.get(_THREADS.format(instruction), 0.0) for instruction, weight in weights.items()
        )
    return {kind: count for kind, count in found.items() if count}


def pipes(metrics: dict[str, float]) -> dict[str, float]:
    """Return the share of active cycles in which each pipe was busy."""
    return {
        matched.group(1) or matched.group(2): value / 100
        for name, value in metrics.items()
        if (matched := _PIPE.fullmatch(name))
    }


def stalls(metrics: dict[str, float]) -> dict[str, float]:
    """Count the samples of warps by stall reason, if there are any."""
    return {
        matched.group(1): value
        for name, value in metrics.items()
        if value and not name.endswith("_not_issued") and (matched := _STALL.fullmatch(name))
    }


def _tensor_operations(metrics: dict[str, float]) -> dict[str, float]:
    """Count the operations of the tensor cores by input type.

    An architecture counts a type as a whole, or by output type and sparsity, or both. The metric with the
    fewest distinctions contains the counts of the others.
    """
    by_distinctions: dict[str, dict[tuple[bool, bool], float]] = defaultdict(lambda: defaultdict(float))
    for name, value in metrics.items():
        matched = _TENSOR.fullmatch(name)
        if matched:
            distinctions = (matched["to"] is not None, matched["sparse"] is not None)
            by_distinctions[matched["type"]][distinctions] += value
    return {type_: counts[min(counts, key=sum)] for type_, counts in by_distinctions.items()}
