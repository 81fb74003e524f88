"""`torch.cuda` for the fake GPU of a target."""

from __future__ import annotations

import contextlib
import functools
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch
import torch.backends.cuda
import torch.backends.cudnn
import torch.cuda
import torch.profiler
import torch.utils._triton
from triton._C.libtriton import nvidia

from explorer.model.hardware import GIB, KIB, Device, Target
from explorer.pipeline.fake_gpu.tensors import GPU, is_gpu

#: The versions that `torch.version` reports.
CUDA_VERSION = "12.8"
HIP_VERSION = "6.4.43482"
CUDNN_VERSION = 91002

#: The modules that have the functions of `torch.cuda`. Scripts call them in each of these modules.
_MODULES = (torch.cuda, torch.cuda.graphs, torch.cuda.memory, torch.cuda.profiler, torch.cuda.random)


class FakeStream(torch.Stream):  # type: ignore[misc]  # torch is untyped here
    """A stream of the fake GPU. It has no work to wait for."""

    cuda_stream = 0
    stream_id = 0
    device = GPU
    device_index = 0
    device_type = 1
    priority = 0

    def __new__(cls, *_arguments: Any, **_options: Any) -> FakeStream:
        stream: FakeStream = super().__new__(cls, device="cpu")
        return stream

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        """Accept a device and a priority."""

    def __enter__(self) -> FakeStream:
        return self

    def __exit__(self, *_error: object) -> None:
        """Accept the end of the context."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FakeStream)

    __hash__ = torch.Stream.__hash__

    def synchronize(self) -> None:
        """Do nothing: there is nothing to wait for."""

    def query(self) -> bool:
        return True

    @staticmethod
    def priority_range() -> tuple[int, int]:
        return (0, -1)

    def is_capturing(self) -> bool:
        return False

    def wait_stream(self, _stream: object) -> None:
        """Do nothing: there is nothing to wait for."""

    def wait_event(self, _event: object) -> None:
        """Do nothing: there is nothing to wait for."""

    def record_event(self, event: FakeEvent | None = None) -> FakeEvent:
        return event or FakeEvent()


class FakeEvent(torch.Event):  # type: ignore[misc]  # torch is untyped here
    """An event of the fake GPU. Any two are a millisecond apart."""

    cuda_event = 0
    device = GPU

    def __new__(cls, *_arguments: Any, **_options: Any) -> FakeEvent:
        event: FakeEvent = super().__new__(cls, device="cpu")
        return event

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        """Accept `enable_timing` and the like."""

    def record(self, _stream: object = None) -> None:
        """Do nothing: there is nothing to record."""

    def wait(self, _stream: object = None) -> None:
        """Do nothing: there is nothing to wait for."""

    def synchronize(self) -> None:
        """Do nothing: there is nothing to wait for."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, _end: object) -> float:
        return 1.0


class FakeGraph:
    """A CUDA graph without content: captured code has been executed already."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        """Accept options."""

    def replay(self) -> None:
        """Do nothing: there is nothing to run."""

    def reset(self) -> None:
        """Do nothing: there is nothing to free."""

    def capture_begin(self, *_arguments: Any, **_options: Any) -> None:
        """Do nothing: there is nothing to capture."""

    def capture_end(self) -> None:
        """Do nothing: there is nothing to capture."""

    def pool(self) -> tuple[int, int]:
        return (0, 0)


class FakeRuntime:
    """`torch.cuda.cudart()`: functions that report success, which is 0."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *_arguments, **_options: 0


class FakeProfile(FakeRuntime):
    """`torch.profiler.profile` and its results, which are empty."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        """Accept the activities and the schedule."""

    def __enter__(self) -> FakeProfile:
        return self

    def __exit__(self, *_error: object) -> None:
        """Accept the end of the context."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def key_averages(self, *_arguments: Any, **_options: Any) -> FakeProfile:
        return self

    events = total_average = key_averages

    def table(self, *_arguments: Any, **_options: Any) -> str:
        return ""


class FakeNvtx(FakeRuntime):
    """`torch.cuda.nvtx`: ranges without effect."""

    def annotate(self, *_arguments: Any, **_options: Any) -> contextlib.nullcontext[None]:
        return contextlib.nullcontext()

    range = annotate


class FakeBlas:
    """The handle of cuBLAS in Triton's bindings, whose products compute nothing."""

    def __init__(self, _workspace: object = None) -> None:
        """Accept a workspace."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *_arguments, **_options: None


class FakeGenerator(torch.Generator):  # type: ignore[misc]  # torch is untyped here
    """A generator for the GPU that draws no numbers."""

    def __new__(cls, device: Any = None) -> FakeGenerator:
        del device
        generator: FakeGenerator = super().__new__(cls, "cpu")
        return generator


def device_properties(target: Target) -> SimpleNamespace:
    """Return the result of `torch.cuda.get_device_properties`."""
    device, multiprocessor = target.device, target.device.multiprocessor
    return SimpleNamespace(
        name=device.name,
        major=device.capability[0],
        minor=device.capability[1],
        total_memory=device.memory_bytes,
        multi_processor_count=device.multiprocessors,
        max_threads_per_multi_processor=multiprocessor.threads,
        max_threads_per_block=multiprocessor.threads_per_block,
        regs_per_multiprocessor=multiprocessor.registers,
        shared_memory_per_block=48 * KIB
        if target.backend == "cuda"
        else multiprocessor.shared_bytes_per_block,
        shared_memory_per_block_optin=multiprocessor.shared_bytes_per_block,
        shared_memory_per_multiprocessor=(
            multiprocessor.shared_bytes_per_block + multiprocessor.reserved_shared_bytes
        ),
        L2_cache_size=device.l2_bytes,
        warp_size=multiprocessor.warp_size,
        clock_rate=device.clock_khz,
        memory_clock_rate=device.memory_clock_khz,
        memory_bus_width=device.memory_bus_bits,
        gcnArchName=device.description or device.name,
        is_integrated=0,
        is_multi_gpu_board=0,
        pci_bus_id=0,
        pci_device_id=0,
        pci_domain_id=0,
        uuid="00000000-0000-0000-0000-000000000000",
    )


def current_raw_stream(_device: int = 0) -> int:
    """Return the handle of the current stream, which compiled code requests."""
    return FakeStream.cuda_stream


def additions() -> list[tuple[Any, str, Any]]:
    """List (object, attribute, value) for attributes that only a PyTorch with CUDA has."""
    return [
        (torch._C, "_cuda_getCurrentRawStream", current_raw_stream),
        (torch._C, "_cuda_getDevice", lambda: 0),
        (torch._C, "_cuda_setDevice", lambda _device: None),
        (torch._C, "_cuda_synchronize", lambda: None),
    ]


def replacements(target: Target, note_read: Callable[[], None] | None = None) -> list[tuple[Any, str, Any]]:
    """List (object, attribute, replacement) for `torch.cuda` and related attributes.

    `note_read` is called by the functions whose results depend on the target.
    """
    device, amd = target.device, target.backend == "hip"
    stream = FakeStream()
    # A separate function for each name: Dynamo distinguishes functions by their identity.
    none = _functions_returning(
        None,
        (
            "_lazy_init", "_lazy_call", "init", "set_device", "synchronize", "empty_cache", "ipc_collect",
            "manual_seed", "manual_seed_all", "seed", "seed_all", "set_stream", "set_rng_state",
            "set_rng_state_all", "reset_peak_memory_stats", "reset_accumulated_memory_stats",
            "reset_max_memory_allocated", "reset_max_memory_cached", "set_per_process_memory_fraction",
            "_sleep", "set_sync_debug_mode", "check_error", "_record_memory_history", "_dump_snapshot",
        ),
    )  # fmt: skip
    zero = _functions_returning(
        0,
        (
            "current_device", "_exchange_device", "_maybe_exchange_device", "memory_allocated",
            "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_cached",
            "max_memory_cached", "initial_seed", "utilization", "temperature", "power_draw", "clock_rate",
            "current_blas_handle", "get_sync_debug_mode", "device_memory_used",
        ),
    )  # fmt: skip
    true = _functions_returning(
        True,
        ("is_available", "is_initialized", "_is_compiled", "is_bf16_supported", "is_tf32_supported"),
    )
    about_target: dict[str, Any] = {
        "get_device_name": lambda _device=None: device.name,
        "get_device_capability": lambda _device=None: device.capability,
        "get_device_properties": lambda _device=None: device_properties(target),
        "get_arch_list": lambda: [target.architecture],
        "mem_get_info": lambda _device=None: (device.memory_bytes - GIB, device.memory_bytes),
        "get_gencode_flags": lambda: "" if amd else _gencode_flags(device),
    }
    if note_read is not None:
        about_target = {name: _noting(note_read, answer) for name, answer in about_target.items()}
    functions: dict[str, Any] = {
        **none,
        **zero,
        **true,
        **about_target,
        "device_count": lambda: 1,
        "memory_stats": lambda _device=None: defaultdict(int),
        "memory_summary": lambda *_arguments, **_options: "",
        "memory_snapshot": lambda *_arguments, **_options: [],
        "list_gpu_processes": lambda _device=None: "",
        "cudart": FakeRuntime,
        "is_current_stream_capturing": lambda: False,
        "can_device_access_peer": lambda _device, _peer: False,
        "get_rng_state": lambda _device=None: torch.get_rng_state(),
        "get_rng_state_all": lambda: [torch.get_rng_state()],
        "current_stream": lambda _device=None: stream,
        "default_stream": lambda _device=None: stream,
        "get_stream_from_external": lambda _pointer, _device=None: stream,
        "stream": lambda _stream=None: contextlib.nullcontext(stream),
        "graph": lambda *_arguments, **_options: contextlib.nullcontext(),
        "graph_pool_handle": lambda: (0, 0),
        "make_graphed_callables": lambda callables, *_arguments, **_options: callables,
        "MemPool": FakeGraph,
        "use_mem_pool": lambda *_arguments, **_options: contextlib.nullcontext(),
        "Stream": FakeStream,
        "ExternalStream": FakeStream,
        "Event": FakeEvent,
        "CUDAGraph": FakeGraph,
        "nvtx": FakeNvtx(),
        "default_generators": (FakeGenerator("cuda"),),
    }
    accelerator: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_accelerator": lambda check_available=False: torch.device("cuda"),  # noqa: ARG005  PyTorch's
        "current_device_index": lambda: 0,
        "current_device_idx": lambda: 0,
        "set_device_index": lambda _device: None,
        "set_device_idx": lambda _device: None,
        "current_stream": lambda _device=None: stream,
        "set_stream": lambda _stream: None,
        "synchronize": lambda _device=None: None,
        "empty_cache": lambda: None,
        "get_memory_info": functions["mem_get_info"],
        **{name: value for name, value in {**none, **zero}.items() if "memory" in name},
    }
    return [
        *((module, name, value) for module in _MODULES for name, value in functions.items()),
        *((torch.accelerator, name, value) for name, value in accelerator.items()),
        *((torch._C, name, value) for _, name, value in additions()),
        (nvidia.cublas, "CublasLt", FakeBlas),
        (torch.utils._triton, "has_triton", lambda: True),
        (torch, "Generator", FakeGenerator),
        # The code of PyTorch's compiler makes streams and events of both modules.
        *((module, "Stream", FakeStream) for module in (torch, torch._C)),
        *((module, "Event", FakeEvent) for module in (torch, torch._C)),
        (torch, "get_device_module", _device_module),
        (torch.profiler, "profile", FakeProfile),
        (torch.autograd.profiler, "profile", FakeProfile),
        (torch.backends.cuda, "is_built", lambda: True),
        (torch.backends.cudnn, "is_available", lambda: True),
        (torch.backends.cudnn, "version", lambda: CUDNN_VERSION),
        (torch.Tensor, "record_stream", lambda _tensor, _stream: None),
        (torch.version, "cuda", None if amd else CUDA_VERSION),
        (torch.version, "hip", HIP_VERSION if amd else None),
    ]


def _gencode_flags(device: Device) -> str:
    major, minor = device.capability
    return f"-gencode compute=compute_{major}{minor},code=sm_{major}{minor}"


@functools.wraps(torch.get_device_module)
def _device_module(device: Any = None) -> Any:
    """Return the module of a device, which is the GPU by default."""
    return torch.cuda if device is None or is_gpu(device) else getattr(torch, torch.device(device).type)


def _noting(note_read: Callable[[], None], answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `note_read` and answers."""

    def function(*arguments: Any, **options: Any) -> Any:
        note_read()
        return answer(*arguments, **options)

    return function


def _functions_returning(value: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: lambda *_arguments, **_options: value for name in names}
