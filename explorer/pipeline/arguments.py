"""Describes the compiler's assumptions about each argument, with the types of the model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from triton.language.core import constexpr
from triton.runtime.jit import JITCallable

from explorer.model import Argument, Scalar, Specialization
from explorer.pipeline.fake_gpu import RecordedLaunch


@dataclass(frozen=True)
class Constant:
    """The value of an argument that the compiler folds."""

    value: Any


#: The options to show when the user has set none.
MAIN_OPTIONS = (
    "num_warps",
    "num_stages",
    "num_ctas",
    "maxnreg",
    "waves_per_eu",
    "matrix_instr_nonkdim",
    "kpack",
)


def shown_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that determine how a kernel is compiled, without paths and versions."""
    return {name: options[name] for name in MAIN_OPTIONS if options.get(name) is not None}


def to_scalar(value: Any) -> Scalar:
    """Return `value` if JSON can represent it, otherwise its `repr`."""
    if isinstance(value, constexpr):
        value = value.value
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, JITCallable):
        return str(value.__name__)
    return repr(value)


def describe_arguments(launch: RecordedLaunch) -> tuple[Argument, ...]:
    """Describe the arguments of `launch`, in the order of the kernel's parameters."""
    return tuple(
        _describe(launch, position, parameter)
        for position, parameter in enumerate(launch.jit_function.params)
    )


def pointers_within_range(launch: RecordedLaunch) -> tuple[str, ...]:
    """Return the pointers whose tensors the backend takes to be within 2 GiB, by name."""
    return tuple(
        parameter.name
        for position, parameter in enumerate(launch.jit_function.params)
        if ["tt.pointer_range", 32] in map(list, launch.attrs.get((position,), ()))
    )


def _describe(launch: RecordedLaunch, position: int, parameter: Any) -> Argument:
    name = parameter.name
    kind = launch.signature.get(name, "constexpr")
    value = launch.bound_arguments.get(name)
    if kind == "constexpr":
        constant = launch.constexprs.get((position,), value)
        folded: Specialization = "constexpr" if parameter.is_constexpr or constant is None else "equal to 1"
        return Argument(name, "constexpr", to_scalar(constant), folded)
    divisible = any(attribute[0] == "tt.divisibility" for attribute in launch.attrs.get((position,), ()))
    specialization: Specialization = "divisible by 16" if divisible else ""
    tensor = getattr(value, "base", value)
    if isinstance(tensor, torch.Tensor):
        return Argument(
            name, type_text(kind), None, specialization, tuple(tensor.shape), tuple(tensor.stride())
        )
    known = value if isinstance(value, bool | int | float) else None
    return Argument(name, type_text(kind), to_scalar(known), specialization)


def type_text(kind: Any) -> str:
    """Return a signature type as text, also the type of a tuple."""
    if isinstance(kind, tuple | list):
        return f"({', '.join(type_text(item) for item in kind)})"
    return str(kind)
