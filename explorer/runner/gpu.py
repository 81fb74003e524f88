"""Describes the GPU and its state, from torch, Triton's driver and NVML.

NVML is the driver's own library. It is called directly, so that no further package is needed.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
from functools import cache
from typing import Any, Literal

import torch
import triton

from explorer.model.measurements import Conditions, Environment

#: Reasons for reduced clocks: bits of `nvmlClocksEventReasons`, without "idle". Source: nvml.h.
THROTTLE_REASONS = {
    0x002: "clocks set by an application",
    0x004: "power cap",
    0x008: "hardware slowdown",
    0x010: "kept in step with other GPUs",
    0x020: "temperature (software)",
    0x040: "temperature (hardware)",
    0x080: "power brake",
    0x100: "clocks set for a display",
}
_SM_CLOCK, _MEMORY_CLOCK = 1, 2
_TEMPERATURE_OF_GPU = 0


def environment(conditions: tuple[Conditions, ...] = (), compiled: Any = None) -> Environment:
    """Describe the current GPU. `compiled` is the launch's `CompiledKernel`, whose binary is hashed."""
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    driver = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())
    return Environment(
        gpu=properties.name,
        capability=properties.gcnArchName.split(":")[0]
        if torch.version.hip
        else f"{properties.major}.{properties.minor}",
        multiprocessors=properties.multi_processor_count,
        memory_bytes=properties.total_memory,
        l2_bytes=properties.L2_cache_size,
        sm_clock_mhz=driver["sm_clock_rate"] / 1000,
        memory_clock_mhz=driver["mem_clock_rate"] / 1000,
        memory_bus_bits=driver["mem_bus_width"],
        driver=driver_version(),
        triton=triton.__version__,
        torch=torch.__version__,
        python=platform.python_version(),
        conditions=conditions,
        binary_sha256=binary_sha256(compiled),
    )


def binary_sha256(compiled: Any) -> str:
    """Return the SHA-256 of the binary that runs, or ""."""
    binaries = getattr(compiled, "asm", {})
    binary = binaries.get("cubin") or binaries.get("hsaco") or b""
    return hashlib.sha256(binary).hexdigest() if binary else ""


def conditions(moment: Literal["before", "after"]) -> Conditions:
    """Query the driver for the current clocks, power and temperature."""
    device = _device()
    if device is None:
        return Conditions(moment, None, None, None, None, None, ())
    return Conditions(
        moment=moment,
        sm_clock_mhz=_ask("nvmlDeviceGetClockInfo", device, _SM_CLOCK),
        memory_clock_mhz=_ask("nvmlDeviceGetClockInfo", device, _MEMORY_CLOCK),
        power_watts=_thousandth(_ask("nvmlDeviceGetPowerUsage", device)),
        power_limit_watts=_thousandth(_ask("nvmlDeviceGetEnforcedPowerLimit", device)),
        temperature_celsius=_ask("nvmlDeviceGetTemperature", device, _TEMPERATURE_OF_GPU),
        throttled_by=throttle_reasons(
            int(_ask("nvmlDeviceGetCurrentClocksThrottleReasons", device, answer=ctypes.c_ulonglong()) or 0)
        ),
    )


def throttle_reasons(bits: int) -> tuple[str, ...]:
    """Return the names of the reasons in a mask of NVML."""
    return tuple(name for bit, name in THROTTLE_REASONS.items() if bits & bit)


def driver_version() -> str:
    """Return the version of NVIDIA's driver, or "" if NVML does not report it."""
    library = _nvml()
    version = ctypes.create_string_buffer(80)
    if library is None or library.nvmlSystemGetDriverVersion(version, ctypes.c_uint(80)) != 0:
        return ""
    return version.value.decode()


def clock_at_work_mhz(after: Conditions) -> float:
    """Return the clock of the multiprocessors under load, or the highest clock if it is not reported."""
    return after.sm_clock_mhz or environment().sm_clock_mhz


@cache
def _nvml() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return library if library.nvmlInit_v2() == 0 else None


@cache
def _device() -> ctypes.c_void_p | None:
    """Return NVML's handle of torch's current GPU, found by its UUID because NVML also counts hidden GPUs."""
    library = _nvml()
    if library is None:
        return None
    uuid = str(torch.cuda.get_device_properties(torch.cuda.current_device()).uuid)
    handle = ctypes.c_void_p()
    name = uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}"
    found = library.nvmlDeviceGetHandleByUUID(ctypes.c_char_p(name.encode()), ctypes.byref(handle)) == 0
    return handle if found else None


def _ask(function: str, device: ctypes.c_void_p, *arguments: int, answer: Any = None) -> float | None:
    """Call a function of NVML that returns a number. Return None if the driver or GPU does not support it."""
    library = _nvml()
    answer = ctypes.c_uint() if answer is None else answer
    call = getattr(library, function, None)
    if call is None or call(device, *map(ctypes.c_uint, arguments), ctypes.byref(answer)) != 0:
        return None
    return float(answer.value)


def _thousandth(value: float | None) -> float | None:
    return None if value is None else value / 1000
