"""Describes a launch: its arguments for the document, and the call that repeats it for the script."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

from explorer.capture.script import CannotWrite, ScriptWriter


@dataclass(frozen=True)
class Launch:
    """The arguments by name and the grid of the first launch of a specialization."""

    arguments: dict[str, Any]
    grid: Any


def current_launch(run_code: Any, function: Any) -> Launch | None:
    """Return the launch of `function` that the calling thread is in, or None.

    Triton passes the arguments to no hook. They are in the frame of `JITFunction.run`, whose code is
    `run_code`. Only a launch that compiles something searches for the frame.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is run_code and frame.f_locals.get("self") is function:
            values = frame.f_locals
            if values.get("warmup") or "bound_args" not in values:
                return None
            return Launch(dict(values["bound_args"]), _grid_of(values.get("grid"), values["bound_args"]))
        frame = frame.f_back
    return None


def _grid_of(grid: Any, arguments: dict[str, Any]) -> tuple[int, ...] | None:
    try:
        sizes = grid(arguments) if callable(grid) else grid
        return tuple(int(size) for size in sizes)
    except Exception:  # the launch itself will raise it
        return None


def describe(name: str, value: Any, kind: Any) -> dict[str, Any]:
    """Return the document of one argument. `kind` is its type in Triton's signature."""
    document: dict[str, Any] = {"name": name, "type": str(kind)}
    if hasattr(value, "data_ptr") and hasattr(value, "shape"):
        return document | {
            "shape": [int(size) for size in value.shape],
            "strides": [int(stride) for stride in value.stride()],
            "dtype": str(value.dtype).removeprefix("torch."),
        }
    if isinstance(value, bool | int | float | str) or value is None:
        is_plain = not isinstance(value, float) or (value == value and abs(value) != float("inf"))
        return document | {"value": value if is_plain else repr(value)}
    return document | {"value": repr(value)[:1000]}


class CallWriter:
    """Writes the launch of a kernel as a statement of its script."""

    def __init__(self, writer: ScriptWriter) -> None:
        self._writer = writer
        self._before: list[str] = []

    def call(self, name: str, launch: Launch, divisible: set[str], options: dict[str, Any]) -> str:
        """Return the statements that launch the kernel `name`. `divisible` arguments are aligned to 16 bytes.

        Raises:
            CannotWrite: an argument has no text.
        """
        if launch.grid is None:
            raise CannotWrite("the grid of the launch is not known")
        given = [f"{key}={self._argument(key, value, divisible)}" for key, value in launch.arguments.items()]
        # A kernel may have a parameter with the name of an option: its argument is both.
        more = {key: value for key, value in options.items() if key not in launch.arguments}
        given += [f"{key}={self._writer.value(value)}" for key, value in more.items()]
        call = f"{name}[{self._writer.value(launch.grid)}](\n    " + ",\n    ".join(given) + ",\n)"
        return "\n".join([*self._before, call])

    def _argument(self, name: str, value: Any, divisible: set[str]) -> str:
        import torch

        if isinstance(value, torch.Tensor):
            return self._tensor(value, name in divisible)
        kind = type(value).__name__
        if kind == "TensorDescriptor" and hasattr(value, "block_shape"):
            maker = self._writer.import_name("triton.tools.tensor_descriptor", "TensorDescriptor")
            base = self._tensor(value.base, True)
            parts = (list(value.shape), list(value.strides), list(value.block_shape))
            rest = ", ".join(self._writer.value([int(each) for each in part]) for part in parts)
            padding = getattr(value, "padding", "zero")
            return f"{maker}({base}, {rest}" + (f", padding={padding!r})" if padding != "zero" else ")")
        if kind == "TensorWrapper" and hasattr(value, "base"):
            base = self._tensor(value.base, name in divisible)
            return f"triton.reinterpret({base}, {self._writer.value(value.dtype)})"
        return self._writer.value(value)

    def _tensor(self, tensor: Any, is_aligned: bool) -> str:
        """Write a tensor of the same shape, strides and type. An unaligned tensor begins at element 1."""
        shape, strides = (
            self._writer.value(tuple(map(int, part))) for part in (tensor.shape, tensor.stride())
        )
        place = f'dtype={tensor.dtype}, device="cuda"'
        if is_aligned:
            return f"torch.empty_strided({shape}, {strides}, {place})"
        pairs = zip(tensor.shape, tensor.stride(), strict=True)
        length = 2 + sum((int(size) - 1) * int(stride) for size, stride in pairs if size)
        return f"torch.empty({length}, {place}).as_strided({shape}, {strides}, 1)"
