"""Reads the arguments that a user enters in the form or as a signature string.

In: a kernel, the user's arguments, and the settings of the autotune configuration. Out: the type or value of
each parameter.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from typing import Any

from explorer.model import Argument
from explorer.model.signature_types import TYPES, is_type, value_range
from explorer.pipeline import signature as signatures
from explorer.pipeline.arguments import Constant
from explorer.pipeline.errors import user_error
from explorer.pipeline.module import FoundKernel

#: A float as Python writes it. JSON does not distinguish 2.0 from 2, so that 2.0 arrives as text.
_FLOAT = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?")


def choose_arguments(
    kernel: FoundKernel,
    given: tuple[Argument, ...] | str,
    preset: dict[str, Any],
    namespace: dict[str, Any],
) -> dict[str, Argument | Constant]:
    """Return the type or value of each parameter by name, without parameters that only `preset` sets.

    Raises:
        UserError: an argument is missing or unknown, or no launch could pass it.
    """
    if isinstance(given, str):
        return _from_signature(kernel, given, preset, namespace)
    return _from_form(kernel, given, preset, namespace)


def _default_of(parameter: Any) -> Constant | None:
    if parameter.default is inspect.Parameter.empty:
        return None
    return Constant(parameter.default)


def _from_signature(
    kernel: FoundKernel, text: str, preset: dict[str, Any], namespace: dict[str, Any]
) -> dict[str, Argument | Constant]:
    items = signatures.parse(text)
    parameters = {parameter.name: parameter for parameter in kernel.jit_function.params}
    named = {item.name: item for item in items if item.name is not None}
    for name, item in named.items():
        if name not in parameters:
            raise user_error(
                f"Signature, character {item.column + 1}: {kernel.info.name} has no parameter {name!r}.",
                kernel.info.line,
                f"Its parameters are: {', '.join(parameters)}.",
            )
    positional = [item for item in items if item.name is None]
    free = [name for name in parameters if name not in named]
    without_preset = [name for name in free if name not in preset]
    if len(positional) <= len(without_preset):
        free = without_preset
    if len(positional) > len(free):
        raise user_error(
            f"{kernel.info.name} takes {len(parameters)} arguments, the signature has {len(items)}.",
            kernel.info.line,
            f"Its parameters are: {', '.join(parameters)}.",
        )
    given = {**dict(zip(free, positional, strict=False)), **named}
    chosen = {
        name: _read_item(kernel, parameter, given[name], namespace)
        for name, parameter in parameters.items()
        if name in given
    }
    return _with_defaults(kernel, chosen, preset)


def _with_defaults(
    kernel: FoundKernel, chosen: dict[str, Argument | Constant], preset: dict[str, Any]
) -> dict[str, Argument | Constant]:
    """Add the defaults of the parameters that neither the user nor the configuration sets."""
    missing = []
    for parameter in kernel.jit_function.params:
        name = parameter.name
        if name in chosen or name in preset:
            continue
        default = _default_of(parameter)
        if default is None:
            missing.append(name)
        else:
            chosen[name] = default
    if missing:
        parameters = [parameter.name for parameter in kernel.info.parameters]
        raise user_error(
            f"{kernel.info.name} takes {len(parameters)} arguments; missing: {', '.join(missing)}.",
            kernel.info.line,
            f"Its parameters are: {', '.join(parameters)}.",
        )
    return chosen


def _read_item(
    kernel: FoundKernel, parameter: Any, item: signatures.Item, namespace: dict[str, Any]
) -> Argument | Constant:
    if item.type is not None and not parameter.is_constexpr:
        if item.hint == "1":
            return Constant(1)
        return Argument(parameter.name, item.type, None, "divisible by 16" if item.hint == "16" else "")
    try:
        return Constant(signatures.constant(item.text, namespace))
    except ValueError as error:
        raise user_error(
            f"Signature, character {item.column + 1}: for {parameter.name!r}, {error}.",
            kernel.info.line,
            'Write a type such as *fp16:16 or i32, or for a constexpr a value such as 128, True or "text".',
        ) from None


def _from_form(
    kernel: FoundKernel,
    arguments: tuple[Argument, ...],
    preset: dict[str, Any],
    namespace: dict[str, Any],
) -> dict[str, Argument | Constant]:
    parameters = {parameter.name: parameter for parameter in kernel.jit_function.params}
    chosen: dict[str, Argument | Constant] = {}
    for position, argument in enumerate(arguments):
        name = argument.name or (list(parameters)[position] if position < len(parameters) else "")
        if name not in parameters:
            raise user_error(
                f"{kernel.info.name} has no parameter {name or f'number {position + 1}'!r}.",
                kernel.info.line,
                f"Its parameters are: {', '.join(parameters)}.",
            )
        chosen[name] = _read_argument(kernel, parameters[name], argument, namespace)
    return _with_defaults(kernel, chosen, preset)


def _read_argument(
    kernel: FoundKernel, parameter: Any, argument: Argument, namespace: dict[str, Any]
) -> Argument | Constant:
    if argument.type == "constexpr" or argument.specialization == "constexpr" or parameter.is_constexpr:
        return Constant(_read_value(argument.value, namespace))
    if not is_type(argument.type):
        raise user_error(
            f"{kernel.info.name}: {argument.type!r} is not a valid type for {parameter.name!r}.",
            kernel.info.line,
            f"Scalar types: {', '.join(TYPES)}. A pointer type is a * before one of them.",
        )
    if problem := _contradiction(argument):
        raise user_error(f"{kernel.info.name}: {parameter.name!r} {problem}.", kernel.info.line)
    return Constant(1) if argument.specialization == "equal to 1" else argument


def _contradiction(argument: Argument) -> str:
    """Return why no launch could produce an argument (value out of range, wrong assumption), or ""."""
    value, assumed = argument.value, argument.specialization
    limits = value_range(argument.type)
    if limits is None:
        may_assume = argument.type.startswith("*") and assumed == "divisible by 16"
        return f"is {argument.type}, which is never {assumed}" if assumed and not may_assume else ""
    if value is None:
        return ""
    if not isinstance(value, int):
        return f"is {argument.type}, and {value!r} is not an integer"
    if value not in limits:
        return f"is {argument.type}, with values from {limits[0]} to {limits[-1]}, got {value}"
    if assumed == "equal to 1" and value != 1:
        return f"cannot be equal to 1 with the value {value}"
    if assumed == "divisible by 16" and value % 16:
        return f"cannot be divisible by 16 with the value {value}"
    return ""


def _read_value(value: Any, namespace: dict[str, Any]) -> Any:
    """Convert a JSON value to a constant.

    A value that JSON cannot represent arrives as text: a float without a fraction, a type, a jitted function,
    the `repr` of a tuple or a layout.
    """
    if not isinstance(value, str):
        return value
    if _FLOAT.fullmatch(value):
        return float(value)
    if "." in value and (dtype := signatures.dtype_of(value)) is not None:
        return dtype
    if hasattr(namespace.get(value), "cache_key"):
        return namespace[value]
    if value.endswith(")"):
        with contextlib.suppress(ValueError):
            return signatures.constant(value, namespace)
    return value
