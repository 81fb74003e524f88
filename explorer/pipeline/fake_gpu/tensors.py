"""Tensors of the fake GPU: meta tensors that report to be on "cuda".

PyTorch's meta device determines shapes, strides, types and gradients of every operation and computes nothing,
also in a build without CUDA. `FakeGpuMode` is active between the user's code and PyTorch: a request for the
GPU becomes a request for the meta device, and a meta tensor reports the GPU as its device. Small tensors on
the CPU are real, and small tensors on the GPU have contents if the script determines them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.utils._device
from torch.overrides import TorchFunctionMode

from explorer.model import AssumedNumber
from explorer.pipeline.fake_gpu.contents import META, MOST_ELEMENTS, Contents, is_small, parts_of
from explorer.pipeline.fake_gpu.unknown import UnknownBool, UnknownFloat, needs_value
from explorer.pipeline.user_source import source_numbers, user_line

GPU = torch.device("cuda", 0)

#: The integer that is assumed where a script reads an unknown integer: block sizes often divide it.
ASSUMED_NUMBER = 128

#: CPU tensors with more elements than this are not filled.
LARGEST_REAL_TENSOR = 1 << 22

#: The start of the fake GPU's memory, and the granularity of the caching allocator.
FIRST_ADDRESS = 0x7F_0000_000000
ALLOCATION_BYTES = 512

_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)

Handler = Callable[..., Any]


class FakeGpuMode(TorchFunctionMode):  # type: ignore[misc]  # torch is untyped here
    """While active, "cuda" is a device that has memory and computes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._addresses: dict[int, tuple[torch.UntypedStorage, int]] = {}
        self._next_address = FIRST_ADDRESS
        self.contents = Contents()
        #: Numbers to assume, and the numbers that were assumed, by places.
        self.given: Mapping[str, int] = {}
        self.assumed: dict[str, AssumedNumber] = {}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        kwargs = kwargs or {}
        if name in ("__get__", "__set__"):
            attribute = getattr(func.__self__, "__name__", "")
            if name == "__get__" and attribute in _GETTERS and args[0].is_meta:
                return _GETTERS[attribute]
            result = func(*args, **kwargs)
            if (
                name == "__get__"
                and attribute in _VIEWS
                and (content := self.contents.of(args[0])) is not None
            ):
                self.contents.attach(result, func(content))
            return result
        handler = _HANDLERS.get(name)
        if handler is not None:
            return handler(self, func, args, kwargs)
        return self.call(func, args, kwargs)

    def call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `func` with its uses of the GPU redirected to the meta device."""
        kwargs = self._place(func, kwargs)
        if not (_any_meta(args) or _any_meta(kwargs.values()) or kwargs.get("device") == META):
            return func(*args, **kwargs)
        if _writes_to_real(getattr(func, "__name__", ""), args):
            torch.utils.swap_tensors(args[0], args[0].to(META))  # Its content is unknown from here on.
        try:
            result = self.on_meta(func, args, kwargs)
        except (NotImplementedError, RuntimeError) as error:
            if not _lacks_values(error):
                raise
            content = self.contents.compute(func, args, kwargs)
            if content is None:
                return self._call_with_numbers(func, args, kwargs)
            return self.contents.attach(_to_meta(content, scalars=True), content)
        content = self.contents.compute(func, args, kwargs) if is_small(result) else None
        if content is None and args and result is args[0]:
            self.contents.forget(result)
        return self.contents.attach(result, content)

    def _call_with_numbers(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `func` with numbers in place of tensors of one integer, as in `x[:length]`."""
        assumed = dict(self.assumed)
        try:
            numbers = tuple(self.with_numbers(value) for value in args)
            return self.on_meta(func, numbers, {key: self.with_numbers(each) for key, each in kwargs.items()})
        except (NotImplementedError, RuntimeError, IndexError):
            self.assumed.clear()
            self.assumed.update(assumed)
            needs_value(f"the content of a tensor, for {getattr(func, '__name__', 'an operation')}")

    def with_numbers(self, value: Any) -> Any:
        """Return `value` with numbers in place of tensors of one integer on the GPU."""
        if (
            isinstance(value, torch.Tensor)
            and value.is_meta
            and value.dtype in _INTEGERS
            and value.dim() == 0
        ):
            return _number(self, torch.Tensor.item, (value,), {})
        if isinstance(value, slice):
            return slice(*map(self.with_numbers, (value.start, value.stop, value.step)))
        if type(value) in (list, tuple):
            return type(value)(map(self.with_numbers, value))
        return value

    def on_meta(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call `func` on the meta device, without contents."""
        kwargs = {key: _to_meta(value) for key, value in kwargs.items()}
        if "generator" in kwargs:
            kwargs["generator"] = None
        return func(*(_to_meta(value) for value in args), **kwargs)

    def address(self, tensor: torch.Tensor) -> int:
        """Return the start address of `tensor` in the GPU's memory."""
        storage = tensor.untyped_storage()
        if storage._cdata not in self._addresses:
            # The storage is kept, so that no other storage gets its identity.
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
    """Return whether `device`, in any form that PyTorch accepts, is the GPU."""
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


def _to_meta(value: Any, scalars: bool = False) -> Any:
    if isinstance(value, torch.Tensor):
        return value if value.is_meta or (value.dim() == 0 and not scalars) else _on_meta(value)
    if type(value) in (list, tuple):
        return type(value)(_to_meta(item, scalars) for item in value)
    return value


def _on_meta(tensor: torch.Tensor) -> torch.Tensor:
    """Return a copy on the meta device. PyTorch's own copy of a sparse tensor has no elements."""
    parts = [part.to(META) for part in parts_of(tensor)]
    if not parts:
        return tensor.to(META)
    if tensor.layout == torch.sparse_coo:
        return torch.sparse_coo_tensor(
            *parts, tensor.shape, device=META, is_coalesced=tensor.is_coalesced(), check_invariants=False
        )
    return torch.sparse_compressed_tensor(
        *parts, tensor.shape, layout=tensor.layout, device=META, check_invariants=False
    )


def _writes_to_real(name: str, args: tuple[Any, ...]) -> bool:
    in_place = name.endswith("_") and not name.endswith("__")
    return in_place and bool(args) and isinstance(args[0], torch.Tensor) and not args[0].is_meta


def _lacks_values(error: Exception) -> bool:
    text = str(error)
    return isinstance(error, NotImplementedError) or "meta tensor" in text or "data-dependent" in text.lower()


# --- special functions ------------------------------------------------------------------------

_GETTERS: dict[str, Any] = {"device": GPU, "is_cuda": True, "is_meta": False}
_VIEWS = ("T", "mT", "H", "mH", "data")


def _data_ptr(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    if args[0].is_meta:
        return mode.address(args[0])
    address: int = func(*args, **kwargs)
    return address


def _get_device(_mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return 0 if args[0].is_meta else int(func(*args, **kwargs))


def _move_to_gpu(mode: FakeGpuMode, _func: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    return _moved(mode, args[0], args[0] if args[0].is_meta else _on_meta(args[0]))


def _moved(mode: FakeGpuMode, tensor: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """Give a moved or converted tensor the content of the original."""
    if result is not tensor and result.is_meta and is_small(result):
        content = mode.contents.of(tensor) if tensor.is_meta else tensor
        if content is not None:
            copy = content.detach().to(result.dtype)
            copy = mode.contents.like(copy if tensor.is_meta else copy.clone(), content)
            mode.contents.attach(result, copy)
    return result


def _move(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `Tensor.to` in all its forms. Unknown content stays unknown on the CPU."""
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
    result = func(tensor, *rest, **kwargs)
    if tensor.layout != torch.strided and result.is_meta and not tensor.is_meta:
        result = _on_meta(tensor.to(result.dtype))
    return _moved(mode, tensor, result)


def _stay(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if args[0].is_meta:
        return args[0]
    return mode.call(func, args, kwargs)


def _pin(_mode: FakeGpuMode, _func: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    return args[0]


def _as_it_is(_mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


def _number(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Read a number or a list of numbers. An integer that only a GPU could compute is assumed."""
    tensor = args[0]
    if not tensor.is_meta:
        return func(*args, **kwargs)
    content = mode.contents.of(tensor)
    is_known = content is not None and not mode.contents.is_guess(content)
    is_list = getattr(func, "__name__", "") == "tolist"
    if is_known:
        return func(content, *args[1:], **kwargs)
    if tensor.dtype == torch.bool or (tensor.numel() != 1 and not is_list):
        needs_value("a number read from a tensor")
    if tensor.is_floating_point():
        return _nested(tensor.shape, UnknownFloat) if is_list else UnknownFloat()
    if tensor.numel() > MOST_ELEMENTS:
        needs_value("the content of a tensor")
    line = user_line()
    place = source_numbers().name(line)
    given = mode.given.get(place)
    if given is not None or content is None:
        content = torch.full(tensor.shape, ASSUMED_NUMBER if given is None else given, device="cpu")
    first = int(content.flatten()[0]) if content.numel() else 0
    mode.assumed.setdefault(place, AssumedNumber(place, line, first, given is not None))
    return func(content, *args[1:], **kwargs)


def _nested(shape: tuple[int, ...], make: Callable[[], Any]) -> Any:
    return [_nested(shape[1:], make) for _ in range(shape[0])] if shape else make()


def _value(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not args[0].is_meta:
        return func(*args, **kwargs)
    content = mode.contents.of(args[0])
    if content is None or mode.contents.is_guess(content):
        needs_value("the content of a tensor")
    return func(content, *args[1:], **kwargs)


def _comparison(_mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compare two tensors. Tensors of different shapes are not equal, whatever their content."""
    if not (_any_meta(args) or _any_meta(kwargs.values())):
        return func(*args, **kwargs)
    first, second = (*args, *kwargs.values())[:2]
    if getattr(func, "__name__", "") == "equal" and first.shape != second.shape:
        return False
    return UnknownBool()


def _text(_mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    tensor = args[0]
    if not tensor.is_meta:
        return str(func(*args, **kwargs))
    return f"tensor(..., device='cuda:0', size={tuple(tensor.shape)}, dtype={tensor.dtype})"


def _filled(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make a tensor. A large tensor on the CPU is not filled, which saves time."""
    args = tuple(map(mode.with_numbers, args))
    placed = mode._place(func, kwargs)
    if placed.get("device") != META and "out" not in kwargs:
        shape_only = mode.on_meta(func, args, {**placed, "device": META})
        if shape_only.numel() > LARGEST_REAL_TENSOR:
            return shape_only
    return mode.call(func, args, kwargs)


def _indexed(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Index a tensor. Integers on the GPU may index a tensor on the CPU."""
    if args[0].is_meta:
        return mode.call(func, args, kwargs)
    assumed = dict(mode.assumed)
    try:
        return mode.call(func, (args[0], mode.with_numbers(args[1]), *args[2:]), kwargs)
    except IndexError:
        if mode.assumed == assumed:
            raise
        mode.assumed.clear()
        mode.assumed.update(assumed)
        needs_value("the content of a tensor, for an index")


def _copy(mode: FakeGpuMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make a tensor from data, which may be a tensor without content."""
    if not args or not isinstance(args[0], torch.Tensor) or not args[0].is_meta:
        return mode.call(func, args, kwargs)
    copy = args[0].detach().clone().to(kwargs.get("dtype") or args[0].dtype)
    _moved(mode, args[0], copy)
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
    **dict.fromkeys(("item", "tolist", "__float__", "__int__", "__index__"), _number),
    **dict.fromkeys(("__bool__", "__array__", "numpy"), _value),
    **dict.fromkeys(("allclose", "equal"), _comparison),
    **dict.fromkeys(("__getitem__", "__setitem__"), _indexed),
    **dict.fromkeys(("__repr__", "__str__", "__format__"), _text),
    **dict.fromkeys(("rand", "randn", "randint", "zeros", "ones", "empty", "full", "arange"), _filled),
}
