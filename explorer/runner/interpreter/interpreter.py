"""Runs the programs of a kernel in Triton's interpreter, one after the other, within a time limit.

Source: triton/runtime/interpreter.py, 3.6.0 and 3.9.0: `GridExecutor`, whose loop runs every program.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from explorer.pipeline.errors import user_error
from explorer.pipeline.fake_gpu import replaced
from explorer.pipeline.functions import definition_line
from explorer.runner.interpreter.bfloat16 import bfloat16_arithmetic
from explorer.runner.interpreter.scope_marks import ignored_scope_marks

#: After this share of the time limit, programs are skipped evenly if all of them would take too long.
LOOKING_SHARE = 0.2

Grid = tuple[int, int, int]


@dataclass(frozen=True)
class Interpretation:
    """The part of a launch that was run: `programs` of the `grid_programs`."""

    programs: int
    grid_programs: int

    @property
    def is_whole(self) -> bool:
        return self.programs == self.grid_programs


def refuse_gluon(jit_function: Any) -> None:
    """Raise an error for a Gluon kernel, which the interpreter cannot run."""
    if jit_function.is_gluon():
        raise user_error(
            f"{jit_function.__name__} is written in Gluon, which Triton's interpreter does not support.",
            definition_line(jit_function),
            "Run it on a GPU.",
        )


def interpret(
    jit_function: Any,
    grid: Grid,
    arguments: tuple[Any, ...],
    *,
    debug: bool = False,
    seconds: float = float("inf"),
    around_program: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Interpretation:
    """Run the programs of `grid`. Programs that would exceed `seconds` are skipped.

    As on a GPU, assertions of the device are checked with `debug` only.
    """
    refuse_gluon(jit_function)
    builder = interpreter.interpreter_builder
    options = replace(builder.options, debug=debug)
    with _device_functions() as prepare, replaced([(builder, "options", options)]):
        function = prepare(jit_function)
        converted = {
            parameter.name: value if parameter.is_constexpr else interpreter._implicit_cvt(value)
            for parameter, value in zip(jit_function.params, arguments, strict=True)
        }
        builder.set_grid_dim(*grid)
        count = grid[0] * grid[1] * grid[2]
        done = 0
        for number in _in_time(count, seconds):
            rest, z = divmod(number, grid[2])
            builder.set_grid_idx(*divmod(rest, grid[1]), z)
            with around_program():
                function(**converted)
            done += 1
    return Interpretation(done, count)


def _in_time(count: int, seconds: float) -> Iterator[int]:
    """Yield the programs to run: the first programs, then all others or an even selection of the others."""
    start = time.monotonic()
    step, number = 1.0, 0.0
    looked = False
    while number < count:
        yield int(number)
        used = time.monotonic() - start
        if used > seconds:
            return
        if not looked and used > LOOKING_SHARE * seconds:
            looked = True
            affordable = (number + 1) * (seconds - used) / used
            step = max(1.0, (count - number - 1) / max(affordable, 1.0))
        number += step


_visit_assignment = interpreter.ASTTransformer.visit_Assign


def _assignment(self: Any, node: ast.Assign) -> ast.AST:
    """Support `a = b = value`, which the interpreter's own method rejects."""
    targets, node.targets = node.targets, node.targets[:1]
    try:
        visited: ast.AST = _visit_assignment(self, node)
    finally:
        node.targets = targets
    return visited


def _whole_number(tensor: Any) -> int:
    return int(tensor.handle.data.item())


@contextmanager
def _device_functions() -> Iterator[Callable[[Any], Callable[..., Any]]]:
    """Let device functions call each other. Yields the function that prepares a device function for a call.

    The interpreter's own call prepares the language every time, and never restores it.
    """
    prepared: dict[int, Callable[..., Any]] = {}
    languages: set[int] = set()

    with ExitStack() as restore:

        def prepare(function: Any) -> Callable[..., Any]:
            raw = function.fn
            if id(raw) not in prepared:
                if id(raw.__globals__) not in languages:
                    languages.add(id(raw.__globals__))
                    restore.callback(interpreter._patch_lang(raw).restore)
                    restore.enter_context(ignored_scope_marks(raw.__globals__))
                    # Triton 3.6 converts arrays of one element to numbers, which NumPy no longer supports.
                    restore.enter_context(replaced([(tl.tensor, "__index__", _whole_number)]))
                rewritten: Callable[..., Any] = InterpretedFunction(raw).rewrite()
                prepared[id(raw)] = rewritten
            return prepared[id(raw)]

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            return prepare(self)(*args, **kwargs)

        changes = [
            (JITFunction, "__call__", call),
            (InterpretedFunction, "__call__", call),
            (interpreter.ASTTransformer, "visit_Assign", _assignment),
        ]
        with replaced(changes), bfloat16_arithmetic(), np.errstate(all="ignore"):
            yield prepare
