"""Replacements for compiled functions and custom operators of PyTorch.

`torch.compile` returns its function unchanged. A custom operator executes its own body, which contains its
launches. PyTorch would call the shape function instead for tensors without content.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

import torch
import torch.library
import torch.utils.checkpoint
from torch._library.custom_ops import CustomOpDef

from explorer.pipeline.fake_gpu.tensors import FakeGpuMode
from explorer.pipeline.user_source import is_users

#: The dispatch keys under which a kernel for the GPU may be registered.
GPU_KEYS = ("CUDA", "cuda", "HIP")


def under(mode: AbstractContextManager[Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` such that it executes under `mode`.

    PyTorch leaves the mode before it calls some functions.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with mode:
            return function(*args, **kwargs)

    return call


def replacements(mode: FakeGpuMode, libraries: list[torch.library.Library]) -> list[tuple[Any, str, Any]]:
    """List (object, attribute, replacement) for compiled functions and custom operators.

    Registrations of the user's code are collected in `libraries`. Registrations of an imported package are
    not: the package remains imported.
    """
    open_library = torch.library.Library.__init__
    define, implement = CustomOpDef.__init__, torch.library.Library.impl
    register_fake = torch.library.Library._register_fake
    register_operator_fake, register_operator_kernel = CustomOpDef.register_fake, CustomOpDef.register_kernel

    def collect_library(self: Any, *args: Any, **kwargs: Any) -> None:
        open_library(self, *args, **kwargs)
        if not _is_package_imported():
            libraries.append(self)

    def define_operator(self: Any, namespace: str, name: str, schema: str, fn: Callable[..., Any], *rest: Any,
                        **options: Any) -> None:  # fmt: skip
        define(self, namespace, name, schema, fn, *rest, **options)
        if not _is_of_pytorch(fn):
            self._abstract_fn = under(mode, fn)

    def register_operator_shapes(self: Any, fn: Callable[..., Any]) -> Callable[..., Any]:
        return register_operator_fake(self, fn) if _is_of_pytorch(fn) else fn

    def register_kernel(self: Any, device_types: Any, fn: Any = None, /) -> Any:
        def register(function: Callable[..., Any]) -> Any:
            if _is_of_pytorch(function):
                return register_operator_kernel(self, device_types, function)
            if device_types is None or any(key in device_types for key in GPU_KEYS):
                self._abstract_fn = under(mode, function)
            return function

        return register if fn is None else register(fn)

    def implement_operator(self: Any, name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> Any:
        if not callable(fn) or _is_of_pytorch(fn):
            return implement(self, name, fn, dispatch_key, **options)
        dispatch_key = dispatch_key or self.dispatch_key
        if dispatch_key == "Meta":
            return None
        if dispatch_key not in GPU_KEYS:
            return implement(self, name, under(mode, fn), dispatch_key, **options)
        # `impl` refuses shape functions of PyTorch's composite operators. This is no shape function.
        operator = self._resolve_op_name(name, "impl")
        self.m.impl(operator, "Meta", under(mode, fn), options.get("with_keyset", False))
        return None

    def register_shapes(self: Any, name: str, fn: Callable[..., Any], *rest: Any, **options: Any) -> None:
        # PyTorch's own registration leads to the body, which is set above. The user's registration would hide
        # the body.
        if fn.__qualname__.startswith(CustomOpDef.__name__):
            register_fake(self, name, fn, *rest, **options)

    return [
        # `Tensor.backward` has passed the mode, which is inactive then. The user's backward needs it.
        (torch.autograd, "_engine_run_backward", under(mode, torch.autograd._engine_run_backward)),
        (torch.utils.checkpoint, "_allowed_determinism_checks_to_fns", _same_shapes()),
        *uncompiled(),
        (CustomOpDef, "__init__", define_operator),
        (CustomOpDef, "register_fake", register_operator_shapes),
        (CustomOpDef, "register_kernel", register_kernel),
        (torch.library.Library, "__init__", collect_library),
        (torch.library.Library, "impl", implement_operator),
        (torch.library.Library, "_register_fake", register_shapes),
    ]


def _is_of_pytorch(function: Callable[..., Any]) -> bool:
    """Return whether a function is PyTorch's own. Its operators work as they are."""
    return function.__module__.startswith("torch.")


def _is_package_imported() -> bool:
    """Return whether the present call comes from the body of a module that is not a file of the user."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        if frame.f_code.co_name == "<module>":
            return frame.f_globals.get("__name__") != "__main__"
        frame = frame.f_back
    return False


def uncompiled() -> list[tuple[Any, str, Any]]:
    """List the replacements that return functions unchanged, in place of compiling them."""
    return [
        (torch, "compile", _as_it_is),
        (torch.jit, "script", _as_it_is),
        (torch.compiler, "disable", _as_it_is),
        (torch.compiler, "allow_in_graph", _as_it_is),
        (torch.library, "wrap_triton", _as_it_is),
        (torch.library, "triton_op", _plain_operator),
    ]


def _as_it_is(function: Any = None, *_arguments: Any, **_options: Any) -> Any:
    """Return the function itself, used as a decorator with or without options."""
    return (lambda decorated: decorated) if function is None else function


def _plain_operator(name: str, fn: Any = None, /, *, mutates_args: Any, schema: str | None = None) -> Any:
    """Make a custom operator of a function that `triton_op` would analyze for its kernels."""
    return torch.library.custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def _same_shapes() -> dict[str, Callable[..., Any]]:
    """Disable the comparison of devices in a checkpoint, which sees the meta device in some places only."""
    checks: dict[str, Callable[..., Any]] = dict(torch.utils.checkpoint._allowed_determinism_checks_to_fns)
    checks["default"] = lambda tensor: {"shape": tensor.shape, "dtype": tensor.dtype}
    return checks
