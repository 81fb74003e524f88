"""How often instructions of each kind are executed, by CUPTI's SASS metrics.

CUPTI adds counting to the kernel's own instructions, so that these numbers are exact; the kernel is slower.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Callable, Sequence

import torch

from explorer.measure.cupti_library import Cupti, address
from explorer.measure.metrics import NoCounters

_OF_THE_GPU = 0


class _Config(ctypes.Structure):
    _fields_ = (("metric", ctypes.c_uint64), ("granularity", ctypes.c_uint8))


class _Value(ctypes.Structure):
    _fields_ = (("metric", ctypes.c_uint64), ("value", ctypes.c_uint64))


class _Record(ctypes.Structure):
    """Of one instruction."""

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
    names: Sequence[str],
    prepare: Callable[[], object],
    launch: Callable[[], object],
) -> dict[str, float]:
    """Count over one `launch` those metrics of `names` that this chip has; `prepare` is called before it."""
    metrics = _known(cupti, chip, names)
    if not metrics:
        return {}
    configs = (_Config * len(metrics))(*(_Config(metric, _OF_THE_GPU) for metric in metrics))
    device = torch.cuda.current_device()
    prepare()
    torch.cuda.synchronize()
    cupti.call("cuptiSassMetricsSetConfig", count=len(configs), configs=address(configs), device=device)
    try:
        cupti.call("cuptiSassMetricsEnable", context=context, is_lazy=1)
        try:
            launch()
            torch.cuda.synchronize()
            sums = _sums(cupti, context)
        finally:
            cupti.call("cuptiSassMetricsDisable", context=context)
    finally:
        cupti.call("cuptiSassMetricsUnsetConfig", device=device)
    return {name: sums[metric] for metric, name in metrics.items()}


def _known(cupti: Cupti, chip: bytes, names: Sequence[str]) -> dict[int, str]:
    """The numbers of metrics, of those that the chip has."""
    found = {}
    for name in names:
        try:
            properties = cupti.call("cuptiSassMetricsGetProperties", chip=chip, metric=name.encode())
        except NoCounters:
            continue
        found[properties.id] = name
    return found


def _sums(cupti: Cupti, context: ctypes.c_void_p) -> dict[int, float]:
    """Add up the records of all instructions, by metric."""
    sums: dict[int, float] = defaultdict(float)
    held = cupti.call("cuptiSassMetricsGetDataProperties", context=context)
    if not held.records or not held.instances:
        return sums
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
    for room in values:
        for value in room:
            sums[value.metric] += value.value
    return sums
