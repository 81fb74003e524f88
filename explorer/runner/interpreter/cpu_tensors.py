"""CPU tensors for the interpreter that report to be on the GPU.

Scripts request "cuda". While `CpuTensorMode` is active, they get CPU tensors whose device is reported as the
GPU. Moving between the two copies, as on a GPU. Memory that is not initialized is filled
(`uninitialized_memory`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.utils._device
from torch.overrides import TorchFunctionMode

from explorer.pipeline.fake_gpu.tensors import GPU, is_gpu
from explorer.runner.launch.uninitialized_memory import filled

CPU = torch.device("cpu")

Handler = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class CpuTensorMode(TorchFunctionMode):  # type: ignore[misc]  # torch is untyped here
    """While active, "cuda" is another name of the CPU."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        kwargs = kwargs or {}
        if name == "__get__":
            attribute = getattr(func.__self__, "__name__", "")
            return _GETTERS[attribute] if attribute in _GETTERS else func(*args, **kwargs)
        handler = _HANDLERS.get(name)
        if handler is not None:
            return handler(func, args, kwargs)
        return filled(func, func(*args, **_placed(func, kwargs)))


def _placed(func: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords with the CPU in place of the GPU."""
    if kwargs.get("pin_memory"):
        kwargs = {**kwargs, "pin_memory": False}
    device = kwargs.get("device")
    if device is None and func in torch.utils._device._device_constructors():
        device = torch.utils._device.CURRENT_DEVICE
    return {**kwargs, "device": CPU} if device is not None and is_gpu(device) else kwargs


def _copy(_func: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    return args[0].clone()


def _move(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Handle `Tensor.to`: a move to any device is a copy."""
    if not isinstance(args[0], torch.Tensor):
        return func(*args, **_placed(func, kwargs))
    tensor, *rest = args
    if any(isinstance(value, torch.Tensor) for value in (*rest, kwargs.get("other"))):
        return func(*args, **kwargs)
    keywords = {name: value for name, value in kwargs.items() if name != "device"}
    moves = "device" in kwargs
    if rest and not isinstance(rest[0], torch.dtype):
        moves, rest = True, rest[1:]
    moved = func(tensor, *rest, **keywords) if rest or keywords else tensor
    return moved.clone() if moves and moved is tensor else moved


def _same(_func: Any, args: tuple[Any, ...], _kwargs: dict[str, Any]) -> Any:
    return args[0]


_GETTERS: dict[str, Any] = {"device": GPU, "is_cuda": True, "is_cpu": False}

_HANDLERS: dict[str, Handler] = {
    "cuda": _copy,
    "cpu": _copy,
    "to": _move,
    "pin_memory": _same,
    "get_device": lambda _func, _args, _kwargs: 0,
}
