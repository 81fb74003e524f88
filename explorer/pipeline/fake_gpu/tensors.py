"""Tensors of the fake GPU: meta tensors that say they are on "cuda".

PyTorch's meta device knows shapes, strides, types and gradients of every operation and computes
nothing, also in a build without CUDA. `FakeGpuMode` stands between the user's code and PyTorch: a
request for the GPU becomes one for the meta device, and what asks a meta tensor where it is gets the
GPU for an answer. Tensors on the CPU are real as long as they are small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.utils._device
from torch.overrides import TorchFunctionMode

from explorer.pipeline.fake_gpu.unknown import UnknownBool, UnknownFloat, needs_value

GPU = torch.device("cuda", 0)
META = torch.device("meta")

#: Tensors on the CPU with more elements than this are not filled either.
LARGEST_REAL_TENSOR = 1 << 22

#: Where the fake GPU's memory begins, and how the caching allocator rounds an allocation.
FIRST_ADDRESS = 0x7F_0000_000000
ALLOCATION_BYTES = 512

Handler = Callable[..., Any]


class FakeGpuMode(TorchFunctionMode):  # type: ignore[misc]
    """While active, "cuda" is a device that has memory and does nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._addresses: dict[int, tuple[torch.UntypedStorage, int]] = {}
        self._next_address = FIRST_ADDRESS

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        kwargs = kwargs or {}
        if name in ("__get__", "__set__"):
            attribute = getattr(func.__self__, "__name__", "")
            if name == "__get__" and attribute in _GETTERS and args[0].is_meta:
                return _GETTERS[attribute]
            return func(*args, **kwargs)
        handler = _HANDLERS.get(name)
        if handler is not None:
            return handler(self, func, args, kwargs)
        return self.call(func, args, kwargs)

    def call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `func` with what is meant for the GPU moved to the meta device."""
        kwargs = self._place(func, kwargs)
        if _any_meta(args) or _any_meta(kwargs.values()) or kwargs.get("device") == META:
            if _writes_to_real(getattr(func, "__name__", ""), args):
                torch.utils.swap_tensors(args[0], args[0].to(META))  # what it holds is not known any more
            args = tuple(_to_meta(value) for value in args)
            kwargs = {key: _to_meta(value) for key, value in kwargs.items()}
            if "generator" in kwargs:
                kwargs["generator"] = None
        try:
            return func(*args, **kwargs)
        except (NotImplementedError, RuntimeError) as error:
            if _lacks_values(error):
                needs_value(f"the content of a tensor, for {getattr(func, '__name__', 'an operation')}")
            raise

    def address(self, tensor: torch.Tensor) -> int:
        """Return where `tensor` would begin in the GPU's memory."""
        storage = tensor.untyped_storage()
        if storage._cdata not in self._addresses:
            # The storage is kept, so that no other gets its identity.
            self._addresses[storage._cdata] = (storage, self._next_address)
            blocks = -(-max(storage.nbytes(), 1) // ALLOCATION_BYTES)
            self._next_address += blocks * ALLOCATION_BYTES
        _, begin = self._addresses[storage._cdata]
        offset: int = tensor.storage_offset() * tensor.element_size()
        return begin + offset

    def _place(self, func: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
        if kwargs.get("pin_memory"):
            kwargs = {**kwargs, "pin_memory": False}
        device = kwargs.get("device")
        if device is not None:
            return {**kwargs, "device": META} if is_gpu(device) else kwargs
        if func in torch.utils._device._device_constructors():
            default = torch.utils._device.CURRENT_DEVICE
            if default is not None and is_gpu(default):
                return {**kwargs, "device": META}
        return kwargs


def is_gpu(device: Any) -> bool:
    """Tell whether `device`, in any form that PyTorch takes, is the GPU."""
    if isinstance(device, bool):
        return False
    if isinstance(device, int):
        return True
    if isinstance(device, str):
        return device.partition(":")[0] in ("cuda", "meta")
    return isinstance(device, torch.device) and device.type in ("cuda", "meta")


def _any_meta(values: Any) -> bool:
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.is_meta:
                return True
        elif isinstance(value, list | tuple) and _any_meta(value):
            return True
    return False


def _to_meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value if value.is_meta or value.dim() == 0 else value.to(META)
    if type(value) in (list, tuple):
        return type(value)(_to_meta(item) for item in value)
    return value


def _writes_to_real(name: str, args: tuple[Any, ...]) -> bool:
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place and bool(args) and isinstance(args[0], torch.Tensor) and not args[0].is_meta


def _lacks_values(error: Exception) -> bool:
    text = str(error)
    return isinstance(error, NotImplementedError) or "meta tensor" in text or "data-dependent" in text.lower()


# --- what is special --------------------------------------------------------------------------

_GETTERS: dict[str, Any] = {"device": GPU, "is_cuda": True, "is_meta": False}


def _data_ptr(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    if args[0].is_meta:
        return mode.address(args[0])
    address: int = func(*args, **kwargs)
    return address


def _get_device(_mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 0 if args[0].is_meta else int(func(*args, **kwargs))


def _move_to_gpu(_mode: FakeGpuMode, _func: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    return args[0].to(META)


def _move(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `Tensor.to` in all its forms. What is unknown stays unknown on the CPU too."""
    if not isinstance(args[0], torch.Tensor):
        return mode.call(func, args, kwargs)
    tensor, rest = args[0], list(args[1:])
    kwargs = dict(kwargs)
    other = kwargs.pop("other", None)
    if rest and isinstance(rest[0], torch.Tensor):
        other = rest.pop(0)
    if other is not None:
        rest = [other.device, other.dtype, *rest]
    place = rest[0] if rest and not isinstance(rest[0], torch.dtype) else kwargs.get("device")
    if place is not None and (tensor.is_meta or is_gpu(place)):
        if rest and not isinstance(rest[0], torch.dtype):
            rest[0] = META
        else:
            kwargs["device"] = META
    return func(tensor, *rest, **kwargs)


def _stay(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if args[0].is_meta:
        return args[0]
    return mode.call(func, args, kwargs)


def _pin(_mode: FakeGpuMode, _func: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    return args[0]


def _as_it_is(_mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


def _number(_mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if not tensor.is_meta:
        return func(*args, **kwargs)
    if tensor.is_floating_point() and tensor.numel() == 1:
        return UnknownFloat()
    return needs_value("a number read from a tensor")


def _value(_mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if args[0].is_meta:
        needs_value("the content of a tensor")
    return func(*args, **kwargs)


def _comparison(_mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if _any_meta(args) or _any_meta(kwargs.values()):
        return UnknownBool()
    return func(*args, **kwargs)


def _text(_mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    tensor = args[0]
    if not tensor.is_meta:
        return str(func(*args, **kwargs))
    return f"tensor(..., device='cuda:0', size={tuple(tensor.shape)}, dtype={tensor.dtype})"


def _filled(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make a tensor; a large one on the CPU is not filled, which would cost time for nothing."""
    placed = mode._place(func, kwargs)
    if placed.get("device") != META and "out" not in kwargs:
        shape_only = mode.call(func, args, {**kwargs, "device": META})
        if shape_only.numel() > LARGEST_REAL_TENSOR:
            return shape_only
    return mode.call(func, args, kwargs)


def _copy(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make a tensor from data, which may be a tensor without content."""
    if not args or not isinstance(args[0], torch.Tensor) or not args[0].is_meta:
        return mode.call(func, args, kwargs)
    copy = args[0].detach().clone().to(kwargs.get("dtype") or args[0].dtype)
    return copy.requires_grad_(bool(kwargs.get("requires_grad")))


_HANDLERS: dict[str, Handler] = {
    "data_ptr": _data_ptr,
    "get_device": _get_device,
    "cuda": _move_to_gpu,
    "to": _move,
    "cpu": _stay,
    "tensor": _copy,
    "_has_compatible_shallow_copy_type": _as_it_is,
    "pin_memory": _pin,
    "item": _number,
    "__float__": _number,
    **dict.fromkeys(("__bool__", "__int__", "__index__", "__array__", "tolist", "numpy"), _value),
    **dict.fromkeys(("allclose", "equal"), _comparison),
    **dict.fromkeys(("__repr__", "__str__", "__format__"), _text),
    **dict.fromkeys(("rand", "randn", "randint", "zeros", "ones", "empty", "full", "arange"), _filled),
}
