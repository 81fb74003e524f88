"""Bindings of the CUPTI that comes with Triton: the parameters of its functions, and how to call one.

Source: cupti_range_profiler.h, cupti_profiler_host.h, cupti_profiler_target.h, cupti_sass_metrics.h and
cupti_pcsampling.h of CUDA 12.8. Each function takes a structure that begins with its own size.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import triton

from explorer.runner.profilers.metrics import FORBIDDEN, NoCounters

_SIZE, _POINTER, _TEXT = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p
_INSUFFICIENT_PRIVILEGES = (35, 40)
#: For these parameters, the size that the header defines ends before the last field.
_LEAVES_OUT_THE_LAST = ("cuptiSassMetricsFlushData",)

#: The fields of the parameters of each function, after the size and a reserved pointer.
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
    "cuptiPCSamplingEnable": (("context", _POINTER),),
    "cuptiPCSamplingDisable": (("context", _POINTER),),
    "cuptiPCSamplingStart": (("context", _POINTER),),
    "cuptiPCSamplingStop": (("context", _POINTER),),
    "cuptiPCSamplingGetNumStallReasons": (("context", _POINTER), ("count", _POINTER)),
    "cuptiPCSamplingGetStallReasons": (
        *(("context", _POINTER), ("count", _SIZE), ("numbers", _POINTER), ("names", _POINTER)),
    ),
    "cuptiPCSamplingSetConfigurationAttribute": (
        *(("context", _POINTER), ("count", _SIZE), ("attributes", _POINTER)),
    ),
    "cuptiPCSamplingGetData": (("context", _POINTER), ("data", _POINTER)),
    "cuptiSassMetricsGetProperties": (
        *(("chip", _TEXT), ("metric", _TEXT)),
        *(("id", ctypes.c_uint64), ("name", _TEXT), ("description", _TEXT)),
    ),
    "cuptiSassMetricsSetConfig": (*(("count", _SIZE), ("configs", _POINTER), ("device", ctypes.c_uint32)),),
    "cuptiSassMetricsUnsetConfig": (("device", ctypes.c_uint32),),
    "cuptiSassMetricsEnable": (("context", _POINTER), ("is_lazy", ctypes.c_uint8)),
    "cuptiSassMetricsDisable": (("context", _POINTER), ("dropped", _SIZE)),
    "cuptiSassMetricsGetDataProperties": (
        *(("context", _POINTER), ("records", _SIZE), ("instances", _SIZE)),
    ),
    "cuptiSassMetricsFlushData": (
        *(("context", _POINTER), ("records", _SIZE), ("instances", _SIZE), ("data", _POINTER)),
    ),
}


class Cupti:
    """The library: its functions by name, with parameters by keyword."""

    def __init__(self) -> None:
        folder = _library_folder()
        try:
            # CUPTI loads these libraries by name on demand. Loading them first selects those in its folder.
            for name in ("libnvperf_target.so", "libnvperf_host.so"):
                ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)
            self._library = ctypes.CDLL(str(folder / "libcupti.so"))
        except OSError as error:
            raise NoCounters(f"CUPTI cannot be loaded: {error}") from None

    def call(self, function: str, **fields: Any) -> Any:
        """Call a function with its parameters. Return the parameters, with the fields that it sets.

        Raises:
            NoCounters: the function failed.
        """
        parameters, size = structure(function)
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


def structure(function: str) -> tuple[type[ctypes.Structure], int]:
    """Return the parameters of `function`, and their size without trailing padding, as CUPTI requires it."""
    fields = [("structure_size", _SIZE), ("reserved", _POINTER), *_PARAMETERS[function]]
    parameters = type(function, (ctypes.Structure,), {"_fields_": fields})
    last_name, last_type = fields[-1 - (function in _LEAVES_OUT_THE_LAST)]
    return parameters, getattr(parameters, last_name).offset + ctypes.sizeof(last_type)


def texts(names: Sequence[str]) -> ctypes.c_void_p:
    array = (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
    return ctypes.cast(array, ctypes.c_void_p)


def address(buffer: Any) -> ctypes.c_void_p:
    return ctypes.cast(buffer, ctypes.c_void_p)


def _library_folder() -> Path:
    knobs = triton.knobs.proton
    is_blackwell = torch.cuda.get_device_capability()[0] >= 10
    blackwell = getattr(knobs, "cupti_lib_blackwell_dir", None)
    return Path(blackwell if is_blackwell and blackwell else knobs.cupti_lib_dir)


def current_context() -> ctypes.c_void_p:
    """Return the CUDA context that torch and Triton use."""
    context = ctypes.c_void_p()
    ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(context))
    return context
