"""Makes the arguments of a kernel from the inputs of the form, and launches it with them."""

from __future__ import annotations

import math
from typing import Any

import torch
from triton.runtime.jit import JITFunction

from explorer.model import Run, RunInput
from explorer.model.hardware import PROGRAMS_PER_LAUNCH
from explorer.model.signature_types import value_range
from explorer.pipeline.errors import user_error
from explorer.pipeline.module import FoundKernel, jit_function_of
from explorer.runner.launch.expressions import evaluate, evaluate_whole, shown

#: PyTorch's types for the element types of Triton's pointers.
ELEMENT_TYPES: dict[str, torch.dtype] = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "fp32": torch.float32,
    "fp64": torch.float64,
    "fp8e4nv": torch.float8_e4m3fn,
    "fp8e5": torch.float8_e5m2,
    "fp8e4b8": torch.float8_e4m3fnuz,
    "fp8e5b16": torch.float8_e5m2fnuz,
    "i1": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
}

#: Random integers are at most this large. All types but i1 can represent them.
LARGEST_INTEGER = 100
#: The largest number of elements of a tensor.
MOST_ELEMENTS = 2**48


def launch(kernel: FoundKernel, run: Run, namespace: dict[str, Any]) -> None:
    """Launch `kernel` with the inputs of `run`. Raise UserError for an error in them."""
    names = {**_plain(namespace), **run.sizes}
    _check_names(kernel, run)
    constants = {
        each.name: evaluate(each.value, names, each.name)
        for each in run.inputs
        if each.shape is None and each.type == "constexpr"
    }
    names |= constants
    generator = torch.Generator(device="cuda").manual_seed(run.seed)
    arguments = {
        each.name: constants[each.name] if each.name in constants else _make(each, names, generator)
        for each in run.inputs
    }
    if not run.grid:
        raise user_error("The run has no grid.", hint="Enter one expression for each dimension of the grid.")

    def grid(meta: dict[str, Any]) -> tuple[int, ...]:
        known = {**names, **meta}
        return tuple(_programs(text, known) for text in run.grid)

    _interface(namespace, kernel)[grid](**arguments)


def _programs(text: str, names: dict[str, Any]) -> int:
    count = evaluate_whole(text, names, "grid")
    if not 1 <= count <= PROGRAMS_PER_LAUNCH:
        raise user_error(
            f"grid: {text!r} is {count:,}.",
            hint=f"A dimension of the grid must have from 1 to {PROGRAMS_PER_LAUNCH:,} programs.",
        )
    return count


def _check_names(kernel: FoundKernel, run: Run) -> None:
    parameters = kernel.jit_function.arg_names
    configured = {name for config in kernel.info.configs for name in config.arguments}
    for each in run.inputs:
        if each.name in configured:
            raise user_error(
                f"{each.name!r} is set by the configurations of {kernel.info.name}.",
                kernel.info.line,
                "Remove it from the inputs, and choose a configuration.",
            )
        if each.name not in parameters:
            raise user_error(
                f"{kernel.info.name} has no parameter {each.name!r}.",
                kernel.info.line,
                f"Its parameters are: {', '.join(parameters)}.",
            )


def _plain(namespace: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in namespace.items() if not name.startswith("__")}


def _interface(namespace: dict[str, Any], kernel: FoundKernel) -> Any:
    """Return the object of the kernel's outermost decorator in the script that is executing."""
    inner = None
    for value in namespace.values():
        function = jit_function_of(value)
        if function is None or function.__name__ != kernel.info.name:
            continue
        if not isinstance(value, JITFunction):
            return value
        inner = value
    if inner is None:
        raise user_error(f"The script does not define {kernel.info.name}.", kernel.info.line)
    return inner


def _make(each: RunInput, names: dict[str, Any], generator: torch.Generator) -> Any:
    if each.shape is None:
        return _scalar(each, names)
    element = each.type.removeprefix("*").removeprefix("k")
    if not each.type.startswith("*") or element not in ELEMENT_TYPES:
        raise user_error(
            f"{each.name}: {each.type!r} is not a valid type of a tensor.",
            hint=f"A tensor type is a * before one of: {', '.join(ELEMENT_TYPES)}.",
        )
    shape = tuple(evaluate_whole(text, names, f"{each.name}, dimension {index}")
                  for index, text in enumerate(each.shape))  # fmt: skip
    if any(size < 0 for size in shape):
        raise user_error(f"{each.name}: the shape {shape} has a negative dimension.")
    if math.prod(shape) > MOST_ELEMENTS:
        raise user_error(
            f"{each.name}: a tensor of the shape {shape} is too large for any memory.",
            hint="Reduce the sizes.",
        )
    return _tensor(shape, ELEMENT_TYPES[element], each.distribution, generator)


def _scalar(each: RunInput, names: dict[str, Any]) -> Any:
    if each.type.startswith(("fp", "bf")):
        value = evaluate(each.value, names, each.name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise user_error(f"{each.name}: {each.value!r} is {shown(value)}, which is not a number.")
        return float(value)
    if each.type == "i1":
        return bool(evaluate(each.value, names, each.name))
    if each.type.startswith("*"):
        raise user_error(f"{each.name} is a pointer: it needs a shape.")
    number, values = evaluate_whole(each.value, names, each.name), value_range(each.type)
    if values is not None and number not in values:
        raise user_error(
            f"{each.name}: {each.value!r} is {number:,}, which is out of the range of {each.type}.",
            hint=f"Its range is {values[0]:,} to {values[-1]:,}. Choose a wider type.",
        )
    return number


def _tensor(
    shape: tuple[int, ...], dtype: torch.dtype, distribution: str, generator: torch.Generator
) -> torch.Tensor:
    """Make a tensor. Values that the type cannot represent become the nearest that it can."""
    kind: dict[str, Any] = {"device": "cuda"}
    if distribution == "ascending":
        count = int(torch.Size(shape).numel())
        return torch.arange(count, **kind).reshape(shape).to(dtype)
    if distribution == "ones":
        return torch.ones(shape, **kind).to(dtype)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=generator, **kind).to(dtype)
    if distribution == "integers" or not dtype.is_floating_point:
        low = 0 if dtype in (torch.uint8, torch.uint16, torch.uint32, torch.uint64) else -LARGEST_INTEGER
        low = 0 if distribution != "integers" else low
        return torch.randint(low, LARGEST_INTEGER + 1, shape, generator=generator, **kind).to(dtype)
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    draw = torch.rand if distribution == "uniform" else torch.randn
    return draw(shape, generator=generator, dtype=wide, **kind).to(dtype)
