"""Counters of one launch by the range profiler of the CUPTI that comes with Triton.

The launch is made again for each pass, on its first values and with an L2 that holds nothing of them.
Source: cupti_range_profiler.h, cupti_profiler_host.h and cupti_profiler_target.h of CUDA 12.8.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import triton

from explorer.measure.metrics import COUNTED, FORBIDDEN, TENSOR_OPERATIONS, NoCounters

_SIZE, _POINTER, _TEXT = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
_RANGE_PROFILER, _COUNTERS = 0, 0
_USER_RANGE, _USER_REPLAY = 2, 3
_INSUFFICIENT_PRIVILEGES = (35, 40)
_MOST_PASSES = 200

#: The fields of the parameters of each function, after their size and a reserved pointer.
_PARAMETERS: dict[str, tuple[tuple[str, Any], ...]] = {
    "cuptiProfilerInitialize": (),
    "cuptiDeviceGetChipName": (("device", _SIZE), ("name", _TEXT)),
    "cuptiProfilerGetCounterAvailability": (("context", _POINTER), ("size", _SIZE), ("image", _POINTER)),
    "cuptiProfilerHostInitialize": (
        *(("kind", ctypes.c_int), ("chip", _TEXT), ("availability", _POINTER), ("host", _POINTER)),
    ),
    "cuptiProfilerHostDeinitialize": (("host", _POINTER),),
    "cuptiProfilerHostGetBaseMetrics": (
        *(("host", _POINTER), ("kind", ctypes.c_int), ("names", ctypes.POINTER(_TEXT)), ("count", _SIZE)),
    ),
    "cuptiProfilerHostConfigAddMetrics": (("host", _POINTER), ("names", _POINTER), ("count", _SIZE)),
    "cuptiProfilerHostGetConfigImageSize": (("host", _POINTER), ("size", _SIZE)),
    "cuptiProfilerHostGetConfigImage": (("host", _POINTER), ("size", _SIZE), ("image", _POINTER)),
    "cuptiProfilerHostEvaluateToGpuValues": (
        *(("host", _POINTER), ("data", _POINTER), ("size", _SIZE), ("range", _SIZE)),
        *(("names", _POINTER), ("count", _SIZE), ("values", _POINTER)),
    ),
    "cuptiRangeProfilerEnable": (("context", _POINTER), ("profiler", _POINTER)),
    "cuptiRangeProfilerDisable": (("profiler", _POINTER),),
    "cuptiRangeProfilerGetCounterDataSize": (
        *(("profiler", _POINTER), ("names", _POINTER), ("count", _SIZE)),
        *(("ranges", _SIZE), ("nodes", ctypes.c_uint32), ("size", _SIZE)),
    ),
    "cuptiRangeProfilerCounterDataImageInitialize": (
        *(("profiler", _POINTER), ("size", _SIZE), ("data", _POINTER)),
    ),
    "cuptiRangeProfilerSetConfig": (
        *(("profiler", _POINTER), ("config_size", _SIZE), ("config", _POINTER)),
        *(("data_size", _SIZE), ("data", _POINTER), ("range", ctypes.c_int), ("replay", ctypes.c_int)),
        *(("ranges", _SIZE), ("levels", ctypes.c_uint16), ("least_level", ctypes.c_uint16)),
        *(("pass_index", _SIZE), ("target_level", ctypes.c_uint16)),
    ),
    "cuptiRangeProfilerStart": (("profiler", _POINTER),),
    "cuptiRangeProfilerStop": (
        *(("profiler", _POINTER), ("pass_index", _SIZE), ("level", _SIZE), ("is_done", ctypes.c_uint8)),
    ),
    "cuptiRangeProfilerPushRange": (("profiler", _POINTER), ("name", _TEXT)),
    "cuptiRangeProfilerPopRange": (("profiler", _POINTER),),
    "cuptiRangeProfilerDecodeData": (("profiler", _POINTER), ("dropped", _SIZE)),
}


def count(prepare: Callable[[], object], launch: Callable[[], object]) -> tuple[dict[str, float], str]:
    """Count over one `launch`; `prepare` is called before each pass. Return the metrics and the tool's name.

    Raises:
        NoCounters: CUPTI cannot, or may not, count here.
    """
    cupti = _Cupti()
    cupti.call("cuptiProfilerInitialize")
    device = torch.cuda.current_device()
    chip = cupti.call("cuptiDeviceGetChipName", device=device).name
    context = ctypes.c_void_p()
    ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(context))
    available = _filled(cupti, "cuptiProfilerGetCounterAvailability", "image", context=context)
    with _host(cupti, chip, available) as host:
        names = _add_metrics(cupti, host)
        config_size = cupti.call("cuptiProfilerHostGetConfigImageSize", host=host).size
        config = ctypes.create_string_buffer(config_size)
        cupti.call("cuptiProfilerHostGetConfigImage", host=host, size=config_size, image=_at(config))
        data = _collect(cupti, context, names, config, prepare, launch)
        values = (ctypes.c_double * len(names))()
        cupti.call(
            "cuptiProfilerHostEvaluateToGpuValues",
            host=host,
            data=_at(data),
            size=len(data),
            range=0,
            names=_texts(names),
            count=len(names),
            values=_at(values),
        )
    numbers = {name: value for name, value in zip(names, values, strict=True) if math.isfinite(value)}
    return numbers, f"CUPTI range profiler ({cupti.version()})"


class _Cupti:
    """The library, with its functions by name and their parameters by keyword."""

    def __init__(self) -> None:
        folder = _library_folder()
        try:
            # It looks for these by name when it is asked for counters: those beside it must be there first.
            for name in ("libnvperf_target.so", "libnvperf_host.so"):
                ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)
            self._library = ctypes.CDLL(str(folder / "libcupti.so"))
        except OSError as error:
            raise NoCounters(f"CUPTI cannot be loaded: {error}") from None

    def call(self, function: str, **fields: Any) -> Any:
        """Call a function with its parameters; return them, with what it has filled in.

        Raises:
            NoCounters: it has failed.
        """
        parameters, size = _structure(function)
        given = parameters(size, None, **fields)
        code = getattr(self._library, function)(ctypes.byref(given))
        if code in _INSUFFICIENT_PRIVILEGES:
            raise NoCounters(FORBIDDEN)
        if code:
            raise NoCounters(f"{function} has failed: {self._explain(code)}")
        return given

    def version(self) -> str:
        number = ctypes.c_uint32()
        self._library.cuptiGetVersion(ctypes.byref(number))
        return str(number.value)

    def _explain(self, code: int) -> str:
        text = ctypes.c_char_p()
        self._library.cuptiGetResultString(code, ctypes.byref(text))
        return (text.value or b"").decode() or f"error {code}"


def _library_folder() -> Path:
    knobs = triton.knobs.proton
    is_blackwell = torch.cuda.get_device_capability()[0] >= 10
    blackwell = getattr(knobs, "cupti_lib_blackwell_dir", None)
    return Path(blackwell if is_blackwell and blackwell else knobs.cupti_lib_dir)


def _structure(function: str) -> tuple[type[ctypes.Structure], int]:
    """The parameters of `function`, and their size as CUPTI wants it: without what pads them at the end."""
    fields = [("structure_size", _SIZE), ("reserved", _POINTER), *_PARAMETERS[function]]
    parameters = type(function, (ctypes.Structure,), {"_fields_": fields})
    last_name, last_type = fields[-1]
    return parameters, getattr(parameters, last_name).offset + ctypes.sizeof(last_type)


def _filled(cupti: _Cupti, function: str, field: str, **fields: Any) -> ctypes.Array[ctypes.c_char]:
    """Ask for the size of an image, then for the image."""
    size = cupti.call(function, **fields).size
    image = ctypes.create_string_buffer(size)
    cupti.call(function, **fields, size=size, **{field: _at(image)})
    return image


@contextmanager
def _host(cupti: _Cupti, chip: bytes, available: ctypes.Array[ctypes.c_char]) -> Iterator[int]:
    made = cupti.call(
        "cuptiProfilerHostInitialize", kind=_RANGE_PROFILER, chip=chip, availability=_at(available)
    )
    try:
        yield made.host
    finally:
        cupti.call("cuptiProfilerHostDeinitialize", host=made.host)


def _add_metrics(cupti: _Cupti, host: int) -> list[str]:
    """Schedule what this chip can count of what is wanted; return their names."""
    listed = cupti.call("cuptiProfilerHostGetBaseMetrics", host=host, kind=_COUNTERS)
    counters = [listed.names[index].decode() for index in range(listed.count)]
    tensor = [f"{name}.sum" for name in counters if name.startswith(TENSOR_OPERATIONS)]
    added = []
    for name in [*COUNTED, *tensor]:
        try:
            cupti.call("cuptiProfilerHostConfigAddMetrics", host=host, names=_texts([name]), count=1)
        except NoCounters:
            continue  # another architecture's
        added.append(name)
    if not added:
        raise NoCounters("CUPTI knows none of the counters on this GPU.")
    return added


def _collect(
    cupti: _Cupti,
    context: ctypes.c_void_p,
    names: list[str],
    config: ctypes.Array[ctypes.c_char],
    prepare: Callable[[], object],
    launch: Callable[[], object],
) -> ctypes.Array[ctypes.c_char]:
    """Make the launch once for each pass; return the image with the counters of all of them."""
    profiler = cupti.call("cuptiRangeProfilerEnable", context=context).profiler
    try:
        asked = {"names": _texts(names), "count": len(names), "ranges": 1, "nodes": 1}
        size = cupti.call("cuptiRangeProfilerGetCounterDataSize", profiler=profiler, **asked).size
        data = ctypes.create_string_buffer(size)
        cupti.call(
            "cuptiRangeProfilerCounterDataImageInitialize", profiler=profiler, size=size, data=_at(data)
        )
        cupti.call(
            "cuptiRangeProfilerSetConfig",
            profiler=profiler,
            config_size=len(config),
            config=_at(config),
            data_size=size,
            data=_at(data),
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


def _texts(names: Sequence[str]) -> ctypes.c_void_p:
    array = (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
    return ctypes.cast(array, ctypes.c_void_p)


def _at(buffer: Any) -> ctypes.c_void_p:
    return ctypes.cast(buffer, ctypes.c_void_p)
