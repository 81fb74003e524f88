"""Reads counters of one launch with the range profiler of the CUPTI that comes with Triton.

The launch is repeated for each pass, on its original values and with a cold L2. Operations by kind of
instruction are counted separately (`cupti_instructions`).
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from explorer.runner.profilers.cupti_instructions import count_instructions
from explorer.runner.profilers.cupti_library import Cupti, address, current_context, texts
from explorer.runner.profilers.metrics import COUNTED, TENSOR_OPERATIONS, NoCounters

_RANGE_PROFILER, _COUNTERS = 0, 0
_USER_RANGE, _USER_REPLAY = 2, 3
_MOST_PASSES = 200
#: Metrics that need instrumentation of the kernel, which the range profiler does not support.
_PATCHED = "__sass_"


@dataclass(frozen=True)
class CounterValues:
    """Metrics by name, and the number of threads that executed the instruction at each offset.

    `threads` is empty if CUPTI cannot count them.
    """

    tool: str
    metrics: dict[str, float]
    threads: dict[int, float]


def count(prepare: Callable[[], object], launch: Callable[[], object]) -> CounterValues:
    """Count over one `launch`. `prepare` is called before each pass.

    Raises:
        NoCounters: CUPTI cannot count here, or is not permitted to.
    """
    cupti = Cupti()
    cupti.call("cuptiProfilerInitialize")
    device = torch.cuda.current_device()
    chip = cupti.call("cuptiDeviceGetChipName", device=device).name
    context = current_context()
    available = _filled(cupti, "cuptiProfilerGetCounterAvailability", "image", context=context)
    with _host(cupti, chip, available) as host:
        names = _add_metrics(cupti, host)
        config_size = cupti.call("cuptiProfilerHostGetConfigImageSize", host=host).size
        config = ctypes.create_string_buffer(config_size)
        cupti.call("cuptiProfilerHostGetConfigImage", host=host, size=config_size, image=address(config))
        data = _collect(cupti, context, names, config, prepare, launch)
        values = (ctypes.c_double * len(names))()
        cupti.call(
            "cuptiProfilerHostEvaluateToGpuValues",
            host=host,
            data=address(data),
            size=len(data),
            range=0,
            names=texts(names),
            count=len(names),
            values=address(values),
        )
    numbers = {name: value for name, value in zip(names, values, strict=True) if math.isfinite(value)}
    try:
        threads = count_instructions(cupti, context, chip, prepare, launch)
    except NoCounters:
        threads = {}
    return CounterValues(f"CUPTI {cupti.version()}", numbers, threads)


def _filled(cupti: Cupti, function: str, field: str, **fields: Any) -> ctypes.Array[ctypes.c_char]:
    """Query the size of an image, then the image."""
    size = cupti.call(function, **fields).size
    image = ctypes.create_string_buffer(size)
    cupti.call(function, **fields, size=size, **{field: address(image)})
    return image


@contextmanager
def _host(cupti: Cupti, chip: bytes, available: ctypes.Array[ctypes.c_char]) -> Iterator[int]:
    made = cupti.call(
        "cuptiProfilerHostInitialize", kind=_RANGE_PROFILER, chip=chip, availability=address(available)
    )
    try:
        yield made.host
    finally:
        cupti.call("cuptiProfilerHostDeinitialize", host=made.host)


def _add_metrics(cupti: Cupti, host: int) -> list[str]:
    """Schedule the requested metrics that this chip has. Return their names."""
    listed = cupti.call("cuptiProfilerHostGetBaseMetrics", host=host, kind=_COUNTERS)
    counters = [listed.names[index].decode() for index in range(listed.count)]
    tensor = [f"{name}.sum" for name in counters if name.startswith(TENSOR_OPERATIONS)]
    added = []
    for name in [*COUNTED, *tensor]:
        if _PATCHED in name:
            continue  # CUPTI accepts these names and returns wrong numbers.
        try:
            cupti.call("cuptiProfilerHostConfigAddMetrics", host=host, names=texts([name]), count=1)
        except NoCounters:
            continue  # A metric of another architecture.
        added.append(name)
    if not added:
        raise NoCounters("CUPTI supports none of the counters on this GPU.")
    return added


def _collect(
    cupti: Cupti,
    context: ctypes.c_void_p,
    names: list[str],
    config: ctypes.Array[ctypes.c_char],
    prepare: Callable[[], object],
    launch: Callable[[], object],
) -> ctypes.Array[ctypes.c_char]:
    """Launch once per pass. Return the image with the counters of all passes."""
    profiler = cupti.call("cuptiRangeProfilerEnable", context=context).profiler
    try:
        asked = {"names": texts(names), "count": len(names), "ranges": 1, "nodes": 1}
        size = cupti.call("cuptiRangeProfilerGetCounterDataSize", profiler=profiler, **asked).size
        data = ctypes.create_string_buffer(size)
        cupti.call(
            "cuptiRangeProfilerCounterDataImageInitialize", profiler=profiler, size=size, data=address(data)
        )
        cupti.call(
            "cuptiRangeProfilerSetConfig",
            profiler=profiler,
            config_size=len(config),
            config=address(config),
            data_size=size,
            data=address(data),
            range=_USER_RANGE,
            replay=_USER_REPLAY,
            ranges=1,
            levels=1,
            least_level=1,
        )
        for _ in range(_MOST_PASSES):
            prepare()
            torch.cuda.synchronize()
            cupti.call("cuptiRangeProfilerStart", profiler=profiler)
            cupti.call("cuptiRangeProfilerPushRange", profiler=profiler, name=b"launch")
            launch()
            torch.cuda.synchronize()
            cupti.call("cuptiRangeProfilerPopRange", profiler=profiler)
            if cupti.call("cuptiRangeProfilerStop", profiler=profiler).is_done:
                break
        cupti.call("cuptiRangeProfilerDecodeData", profiler=profiler)
    finally:
        cupti.call("cuptiRangeProfilerDisable", profiler=profiler)
    return data
