"""Custom operators of the user's code: registered by each script, and run on the CPU in place of the GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.library
from torch._library.custom_ops import CustomOpDef
from torch.overrides import TorchFunctionMode

from explorer.pipeline.fake_gpu.torch_extras import GPU_KEYS, under

#: The operators of the current script. They are removed before the next script, which may reuse their names.
_libraries: list[torch.library.Library] = []


def collected() -> list[tuple[Any, str, Any]]:
    """Remove the previous script's operators. List the replacement that collects the next script's."""
    for library in reversed(_libraries):
        library._destroy()
    _libraries.clear()
    open_library = torch.library.Library.__init__

    def collect(self: Any, *args: Any, **kwargs: Any) -> None:
        open_library(self, *args, **kwargs)
        _libraries.append(self)

    return [(torch.library.Library, "__init__", collect)]


def on_the_processor(mode: TorchFunctionMode) -> list[tuple[Any, str, Any]]:
    """List the replacements that run operators for the GPU on the CPU, under `mode`.

    PyTorch leaves the mode before it runs an operator or a backward pass.
    """
    define, implement = CustomOpDef.__init__, torch.library.Library.impl
    register = CustomOpDef.register_kernel

    def define_operator(self: Any, namespace: str, name: str, schema: str, fn: Callable[..., Any], *rest: Any,
                        **options: Any) -> None:  # fmt: skip
        define(self, namespace, name, schema, under(mode, fn), *rest, **options)

    def register_kernel(self: Any, device_types: Any, fn: Any = None, /) -> Any:
        is_for_gpu = device_types is not None and any(key in device_types for key in GPU_KEYS)
        devices = "cpu" if is_for_gpu else device_types

        def decorate(function: Callable[..., Any]) -> Any:
            return register(self, devices, under(mode, function))

        return decorate if fn is None else decorate(fn)

    def implement_operator(self: Any, name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> Any:
        if not callable(fn) or fn.__module__.startswith("torch."):
            return implement(self, name, fn, dispatch_key, **options)
        key = "CPU" if dispatch_key in GPU_KEYS else dispatch_key
        return implement(self, name, under(mode, fn), key, **options)

    return [
        (torch.autograd, "_engine_run_backward", under(mode, torch.autograd._engine_run_backward)),
        (CustomOpDef, "__init__", define_operator),
        (CustomOpDef, "register_kernel", register_kernel),
        (torch.library.Library, "impl", implement_operator),
    ]
