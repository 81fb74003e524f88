"""bfloat16 for Triton's interpreter, which stores bfloat16 numbers as 16-bit integers and computes with
these.

Operands are converted to fp32, which represents them exactly. Results are rounded to the nearest value, ties
to even, as on a GPU. Source: triton/runtime/interpreter.py, 3.6.0 and 3.9.0, and "Limitations" in Triton's
guide to debugging.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

from explorer.pipeline.fake_gpu import replaced

#: The builder's operations that use the values of floating-point numbers.
_OPERATIONS = (
    "create_fadd", "create_fsub", "create_fmul", "create_fdiv", "create_frem", "create_fneg", "create_fma",
    "create_precise_divf", "create_approx_divf", "create_clampf",
    "create_minimumf", "create_minnumf", "create_maximumf", "create_maxnumf",
    *(f"create_fcmp{order}{relation}" for order in "OU" for relation in ("LT", "GT", "LE", "GE", "EQ", "NE")),
    "create_cos", "create_sin", "create_exp", "create_exp2", "create_log", "create_log2", "create_sqrt",
    "create_precise_sqrt", "create_rsqrt", "create_erf", "create_floor", "create_ceil",
)  # fmt: skip

Array = np.ndarray[Any, Any]


def widen(bits: Array) -> Array:
    """Convert the bits of bfloat16 numbers to fp32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def narrow(numbers: Array) -> Array:
    """Convert fp32 numbers to the bits of the nearest bfloat16."""
    bits = np.ascontiguousarray(numbers, dtype=np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    # Rounding must not clear the bits that distinguish NaN from infinity.
    return np.where(np.isnan(numbers), np.uint16(0x7FC0), rounded).reshape(np.shape(numbers))


@contextmanager
def bfloat16_arithmetic() -> Iterator[None]:
    """Make the interpreter compute with bfloat16."""
    cast, dot = InterpreterBuilder.cast_impl, InterpreterBuilder.create_dot

    def convert(self: Any, source: Any, target: Any) -> Any:
        if _is_bfloat16(source) == (target.scalar == tl.bfloat16):
            return cast(self, source, target)
        if _is_bfloat16(source):
            return TensorHandle(
                widen(source.data).astype(interpreter._get_np_dtype(target.scalar)), target.scalar
            )
        return TensorHandle(narrow(source.data.astype(np.float32)), tl.bfloat16)

    def product(self: Any, left: Any, right: Any, total: Any, *rest: Any) -> Any:
        result = dot(self, _widened(left), _widened(right), _widened(total), *rest)
        return _narrowed(result) if _is_bfloat16(total) else result

    changes = [
        *(
            (InterpreterBuilder, name, _computing(getattr(InterpreterBuilder, name)))
            for name in _OPERATIONS
            if hasattr(InterpreterBuilder, name)
        ),
        (InterpreterBuilder, "cast_impl", convert),
        (InterpreterBuilder, "create_dot", product),
    ]
    with replaced(changes), _constants():
        yield


@contextmanager
def _constants() -> Iterator[None]:
    """Add the function that creates a constant to the builder of Triton 3.6."""
    if hasattr(InterpreterBuilder, "get_bf16"):
        yield
        return
    InterpreterBuilder.get_bf16 = lambda _self, value: TensorHandle(
        narrow(np.array([value], dtype=np.float32)), tl.bfloat16
    )
    try:
        yield
    finally:
        del InterpreterBuilder.get_bf16


def _computing(operation: Callable[..., Any]) -> Callable[..., Any]:
    def compute(self: Any, *operands: Any) -> Any:
        if not any(_is_bfloat16(operand) for operand in operands):
            return operation(self, *operands)
        result = operation(self, *map(_widened, operands))
        return (
            _narrowed(result) if result.data.dtype == np.float32 else result
        )  # A comparison: its result is not a bfloat16.

    return compute


def _is_bfloat16(value: Any) -> bool:
    return isinstance(value, TensorHandle) and value.dtype.scalar == tl.bfloat16


def _widened(value: Any) -> Any:
    return TensorHandle(widen(value.data), tl.float32) if _is_bfloat16(value) else value


def _narrowed(value: Any) -> Any:
    return TensorHandle(narrow(value.data), tl.bfloat16)
