"""Show the compilation of a launch: the call of a launch, with tensors that may have no content."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from explorer.capture.launch import CallWriter, Launch
from explorer.capture.script import CannotWrite, ScriptWriter
from explorer.errors import InvalidRequest
from explorer.model.hardware import DEFAULT_TARGET
from explorer.python.compile_kernel import below_wrappers, compile_body
from explorer.python.result import DEFAULT_HEIGHT, Workbench

#: The alignment in bytes that Triton assumes of an aligned pointer. Source: triton/runtime/jit.py, 3.6.0 and
#: 3.9.0.
_ALIGNED_BYTES = 16


@dataclass(frozen=True)
class Launcher:
    """Takes the call of a launch: `launcher[grid](*arguments, **options)` returns a `Workbench`."""

    kernel: Any
    target: str | None
    triton: str | None
    config: int | None
    height: int
    server: str | None

    def __getitem__(self, grid: Any) -> Callable[..., Workbench]:
        def launch(*arguments: Any, **keywords: Any) -> Workbench:
            call = _call_of(self.kernel, self.config, grid, arguments, keywords)
            name, source = _script_of(call)
            body = {
                "source": source,
                "target": self.target or _target_of(call),
                "triton": self.triton or _triton_of_process(),
                "kernel": name,
                "launch": 0,
            }
            workbench = Workbench(compile_body(body, self.server), self.height)
            workbench.announce()
            return workbench

        return launch


def show(
    kernel: Any,
    *,
    target: str | None = None,
    triton: str | None = None,
    config: int | None = None,
    height: int = DEFAULT_HEIGHT,
    server: str | None = None,
) -> Launcher:
    """Compile the kernel of a launch, and show it: `explorer.show(kernel)[grid](x, y, BLOCK=128)`.

    The arguments are the same as for a launch; Triton specializes the kernel for them. Only the type, the
    shape, the strides and the alignment of a tensor matter. A tensor may be on a CPU, or on the device "meta"
    without content. Nothing is launched. The call returns a `Workbench`, whose `result` is the result of
    `explorer.compile`. Outside of a notebook it prints the address of the page.

    `target` is by default the target of the GPU with the tensors, or else cuda:90. `config` is the index of
    the configuration of `triton.autotune` to compile, by default the first that pruning leaves. `triton` is
    by default the version that the process has imported. `height` is in CSS pixels, and `server` is the same
    as for `explorer.compile`.

    Raises:
        InvalidRequest: `kernel` is not a function with `@triton.jit`.

    The call raises:
        InvalidRequest: an argument, or a global of the kernel, cannot be written as Python.
        TypeError: the arguments do not match the parameters of the kernel.
        ExplorerError: the request is refused, or the server cannot be reached.
    """
    below_wrappers(kernel)  # refuses objects that are not kernels
    return Launcher(kernel, target, triton, config, height, server)


@dataclass
class _Call:
    """The innermost call of a launch, in place of a function with `@triton.jit`: returns the compilation."""

    function: Any
    arguments: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    grid: Any = None

    def run(self, *arguments: Any, grid: Any, warmup: bool, **keywords: Any) -> None:  # noqa: ARG002
        """Bind the arguments as Triton does."""
        signature = self.function.signature
        own = {name: value for name, value in keywords.items() if name in signature.parameters}
        bound = signature.bind(*arguments, **own)
        bound.apply_defaults()
        self.arguments = dict(bound.arguments)
        self.options = {name: value for name, value in keywords.items() if name not in own}
        self.grid = grid(self.arguments) if callable(grid) else grid


class _OneConfiguration:
    """An autotuner that measures nothing, and calls its function with one configuration."""

    def __init__(self, autotuner: Any, config: int | None) -> None:
        self._autotuner = autotuner
        self._config = config

    def run(self, *arguments: Any, **keywords: Any) -> None:
        from explorer.pipeline.fake_gpu.runtime import choose_config

        tuner = self._autotuner
        tuner.configs = [choose_config(tuner, self._config, arguments, keywords)]
        tuner.run(*arguments, **keywords)


def _call_of(
    kernel: Any, config: int | None, grid: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> _Call:
    """Return the call that a launch makes below `autotune` and `heuristics`."""
    call = _Call(below_wrappers(kernel))
    _calling(kernel, call, config).run(*arguments, grid=grid, warmup=False, **keywords)
    return call


def _calling(kernel: Any, call: _Call, config: int | None) -> Any:
    """Return copies of the wrappers of a kernel around `call`. The wrappers of the kernel stay unchanged."""
    if kernel is call.function:
        return call
    wrapper = copy.copy(kernel)
    wrapper.fn = _calling(kernel.fn, call, config)
    return _OneConfiguration(wrapper, config) if hasattr(wrapper, "configs") else wrapper


def _script_of(call: _Call) -> tuple[str, str]:
    """Return the name of the kernel and the script that makes the call.

    Raises:
        InvalidRequest: an object has no text in Python.
    """
    writer = ScriptWriter()
    name = writer.function(call.function)
    aligned = {key for key, value in call.arguments.items() if _is_aligned(value)}
    grid = call.grid if isinstance(call.grid, tuple | list) else (call.grid,)
    launch = Launch(call.arguments, tuple(int(size) for size in grid))
    try:
        statement = CallWriter(writer).call(name, launch, aligned, call.options)
    except CannotWrite as error:
        raise InvalidRequest(f"The launch of {name} cannot be written as a script: {error}.") from error
    source = writer.write(statement)
    if writer.problems:
        raise InvalidRequest(f"{name} cannot be written as a script: {'; '.join(writer.problems)}.")
    return name, source


def _is_aligned(value: Any) -> bool:
    """Return whether Triton sees an aligned pointer. A tensor without content begins at its offset."""
    import torch

    tensor = getattr(value, "base", value)  # of `triton.reinterpret`
    if not isinstance(tensor, torch.Tensor):
        return False
    is_without_content = tensor.device.type == "meta"
    address = tensor.storage_offset() * tensor.element_size() if is_without_content else tensor.data_ptr()
    return bool(address % _ALIGNED_BYTES == 0)


def _triton_of_process() -> str:
    from triton import __version__

    return str(__version__)


def _target_of(call: _Call) -> str:
    """Return the target of the GPU that has the tensors, or the default target."""
    if not any(getattr(value, "is_cuda", False) for value in call.arguments.values()):
        return DEFAULT_TARGET
    from triton.runtime.driver import driver

    target = driver.active.get_current_target()
    return f"{target.backend}:{target.arch}"
