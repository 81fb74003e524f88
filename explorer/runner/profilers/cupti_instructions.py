"""Counts how often each instruction is executed, with CUPTI's SASS metrics.

CUPTI instruments the kernel, so that the numbers are exact and the kernel is slower.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import torch

from explorer.runner.profilers.cupti_library import Cupti, address

_OF_THE_GPU = 0
_THREADS = b"smsp__sass_thread_inst_executed_pred_on"


class _Config(ctypes.Structure):
    _fields_ = (("metric", ctypes.c_uint64), ("granularity", ctypes.c_uint8))


class _Value(ctypes.Structure):
    _fields_ = (("metric", ctypes.c_uint64), ("value", ctypes.c_uint64))


class _Record(ctypes.Structure):
    """The record of one instruction."""

    _fields_ = (
        ("structure_size", ctypes.c_size_t),
        ("reserved", ctypes.c_void_p),
        ("cubin", ctypes.c_uint32),
        ("function_index", ctypes.c_uint32),
        ("function", ctypes.c_char_p),
        ("offset", ctypes.c_uint32),
        ("values", ctypes.POINTER(_Value)),
    )


def count_instructions(
    cupti: Cupti,
    context: ctypes.c_void_p,
    chip: bytes,
    prepare: Callable[[], object],
    launch: Callable[[], object],
) -> dict[int, float]:
    """Count the threads that execute the instruction at each offset in one `launch`.

    `prepare` is called before it.

    Raises:
        NoCounters: CUPTI cannot count them.
    """
    device = torch.cuda.current_device()
    metric = cupti.call("cuptiSassMetricsGetProperties", chip=chip, metric=_THREADS).id
    config = _Config(metric, _OF_THE_GPU)
    prepare()
    torch.cuda.synchronize()
    cupti.call("cuptiSassMetricsSetConfig", count=1, configs=address(ctypes.pointer(config)), device=device)
    try:
        cupti.call("cuptiSassMetricsEnable", context=context, is_lazy=1)
        try:
            launch()
            torch.cuda.synchronize()
            return _by_offset(cupti, context)
        finally:
            cupti.call("cuptiSassMetricsDisable", context=context)
    finally:
        cupti.call("cuptiSassMetricsUnsetConfig", device=device)


def _by_offset(cupti: Cupti, context: ctypes.c_void_p) -> dict[int, float]:
    held = cupti.call("cuptiSassMetricsGetDataProperties", context=context)
    values = [(_Value * held.instances)() for _ in range(held.records)]
    records = (_Record * held.records)()
    for record, room in zip(records, values, strict=True):
        record.structure_size = ctypes.sizeof(_Record)
        record.values = ctypes.cast(room, ctypes.POINTER(_Value))
    cupti.call(
        "cuptiSassMetricsFlushData",
        context=context,
        records=held.records,
        instances=held.instances,
        data=address(records),
    )
    return {
        record.offset: float(sum(value.value for value in room))
        for record, room in zip(records, values, strict=True)
    }
