"""A Triton driver without a GPU. It returns the properties of the target's GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from triton.backends import backends
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime.jit import JITFunction

from explorer.model.hardware import Device, Target
from explorer.pipeline.fake_gpu.runtime import Recorder
from explorer.pipeline.targets import triton_target


class FakeUtilities:
    """The object that user code reaches through `driver.active.utils`."""

    def __init__(self, device: Device, note_read: Callable[[], None]) -> None:
        self._device = device
        self._note_read = note_read

    def get_device_properties(self, _device: int = 0) -> dict[str, int]:
        self._note_read()
        device = self._device
        return {
            "max_shared_mem": device.multiprocessor.shared_bytes_per_block,
            "max_num_regs": device.multiprocessor.registers,
            "multiprocessor_count": device.multiprocessors,
            "warpSize": device.multiprocessor.warp_size,
            "sm_clock_rate": device.clock_khz,
            "mem_clock_rate": device.memory_clock_khz,
            "mem_bus_width": device.memory_bus_bits,
            "max_threads_per_sm": device.multiprocessor.threads,
            "cooperativeLaunch": 1,
        }

    def get_device_capability(self, _device: int = 0) -> tuple[int, int]:
        self._note_read()
        return self._device.capability

    def set_printf_fifo_size(self, _size: int) -> None:
        """Accept a size: nothing will ever be printed from the device."""

    def unload_module(self, _module: object) -> None:
        """Accept a module: nothing was ever loaded."""

    def cuOccupancyMaxActiveClusters(self, *_arguments: object) -> int:  # noqa: N802  Triton's name
        self._note_read()
        return self._device.multiprocessors


class FakeDriver(DriverBase):  # type: ignore[misc]  # Triton is untyped here
    """The active driver while the user's code is executed and while its kernels compile.

    `recorder` is told when anything but a launch asks for the target.
    """

    def __init__(self, target: Target, recorder: Recorder | None = None) -> None:
        self._target = triton_target(target)
        self._device = target.device
        self._recorder = recorder
        self.utils = FakeUtilities(self._device, self._note_read)

    def _note_read(self) -> None:
        if self._recorder is not None:
            self._recorder.note_target_read()

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        cpp_type: str = backends[_backend_name(self._target)].driver.map_python_to_cpp_type(self, ty)
        return cpp_type

    def get_current_target(self) -> GPUTarget:
        is_launching = self._recorder is not None and self._recorder.is_calling
        if not is_launching or sys._getframe(1).f_globals.get("__name__") != JITFunction.__module__:
            self._note_read()
        return self._target

    def get_current_device(self) -> int:
        return 0

    def set_current_device(self, device: int) -> None:
        """Accept a device: there is one."""

    def get_current_stream(self, _device: int | None = None) -> int:
        return 0

    def get_device_capability(self, _device: int | None = None) -> tuple[int, int]:
        self._note_read()
        return self._device.capability

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_benchmarker(self) -> Callable[..., Any]:
        import triton.testing

        benchmarker: Callable[..., Any] = triton.testing.do_bench
        return benchmarker

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        return torch.empty(0, dtype=torch.int32, device="cuda")

    def clear_cache(self, cache: torch.Tensor) -> None:
        """Leave the cache alone: nothing is measured."""

    def assemble_tensormap_to_arg(self, _information: object, arguments: Any) -> Any:
        return arguments


def _backend_name(target: GPUTarget) -> str:
    name: str = next(name for name, backend in backends.items() if backend.compiler.supports_target(target))
    return name
