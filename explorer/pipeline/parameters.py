"""Describes a kernel: its parameters, with a guess for each, and its autotune configurations."""

from __future__ import annotations

import ast
import inspect
from typing import Any, Literal

from explorer.model import Config, Kernel, Parameter
from explorer.pipeline.arguments import to_scalar
from explorer.pipeline.guesses import Guesser


def language_of(jit_function: Any) -> Literal["triton", "gluon"]:
    return "gluon" if jit_function.is_gluon() else "triton"


def describe_kernel(jit_function: Any, autotuner: Any, line: int, guesser: Guesser) -> Kernel:
    """Describe `jit_function`. `autotuner` is the object of its `autotune` decorator, or None."""
    configs = tuple(
        Config(
            index,
            {name: to_scalar(value) for name, value in config.kwargs.items()},
            {name: to_scalar(value) for name, value in config_options(config).items()},
        )
        for index, config in enumerate(autotuner.configs if autotuner is not None else ())
    )
    parameters = tuple(_describe(parameter, guesser) for parameter in jit_function.params)
    return Kernel(jit_function.__name__, line, language_of(jit_function), parameters, configs)


def config_options(config: Any) -> dict[str, Any]:
    """Return the compiler options that an autotune configuration sets."""
    return {name: value for name, value in config.all_kwargs().items() if name not in config.kwargs}


def helper_names(tree: ast.Module) -> set[str]:
    """Return the names of the jitted functions that other jitted functions of the source call."""
    called: set[str] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not any(map(_is_jit, function.decorator_list)):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != function.name:
                called.add(node.id)
    return called


def returns_value(jit_function: Any) -> bool:
    """Return whether a function returns a value, so that it cannot be launched."""
    return any(
        isinstance(node, ast.Return) and ast.unparse(node.value or ast.Constant(None)) != "None"
        for node in ast.walk(jit_function.parse())
    )


def _is_jit(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "jit"


def _describe(parameter: Any, guesser: Guesser) -> Parameter:
    has_default = parameter.default is not inspect.Parameter.empty
    guess = guesser.guess(parameter.name)
    return Parameter(
        parameter.name,
        parameter.annotation,
        parameter.is_constexpr,
        to_scalar(parameter.default) if has_default else None,
        has_default,
        guess.argument(parameter.name),
        guess.reason,
    )
