"""Finds the reference of a kernel, and computes it in a higher precision than the kernel.

The reference is torch code from the form, or the script's function `reference`: called as the script calls
it, or else with the kernel's arguments by name.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from explorer.pipeline.script import describe, diagnostic_at
from explorer.pipeline.user_source import source_numbers
from explorer.runner.launch import benchmark
from explorer.runner.launch.captured_launch import CapturedLaunch
from explorer.runner.launch.reference_calls import REFERENCE, ReferenceCall, map_tensors

#: The suffixes of parameter names that are not part of a tensor's name.
_SUFFIX = re.compile(r"_?(ptrs?|pointers?|desc|descriptor)$", re.IGNORECASE)

#: The types to compute in, in this order, until one works. None: the types of the tensors.
PRECISIONS: tuple[torch.dtype | None, ...] = (torch.float64, torch.float32, None)


class ReferenceFailed(Exception):
    """The reference fails in every precision."""


@dataclass(frozen=True)
class Reference:
    """Code that computes the expected results. `text` says where it comes from."""

    text: str
    launch: CapturedLaunch
    call: Callable[[Callable[[Any], Any]], Any]
    precisions: tuple[torch.dtype | None, ...] = PRECISIONS

    def as_written(self) -> object:
        """Compute in the types of the kernel's arguments."""
        with self.launch.script_environment():
            return self.call(lambda value: value)

    def in_high_precision(self) -> list[torch.Tensor]:
        """Return the computed tensors, from inputs in the highest precision that works.

        Raises:
            ReferenceFailed: the reference fails in every precision.
        """
        problem = ""
        for precision in self.precisions:
            try:
                with self.launch.script_environment(), _exact_products(), torch.no_grad():
                    return _tensors(self.call(partial(map_tensors, _widen(precision))))
            except Exception as error:  # User code may raise any exception.
                # Do not keep the error itself: it holds the tensors, whose memory the next attempt needs.
                line = diagnostic_at(error).line
                place = f" ({source_numbers().words(line)})" if line else ""
                problem = problem or f"{describe(error)}{place}"
            torch.cuda.empty_cache()
        raise ReferenceFailed(problem)


def find_references(launch: CapturedLaunch) -> list[Reference] | str:
    """Return the references of a launch, the best first, or the reason why there is none."""
    run = launch.capture_context.run
    found = _from_text(launch, run.reference) if run.reference.strip() else _from_function(launch)
    references = [] if isinstance(found, str) else [found]
    if run.is_benchmark:
        references += _from_benchmark(launch)
    return references or str(found)


def _from_function(launch: CapturedLaunch) -> Reference | str:
    function = launch.namespace.get(REFERENCE)
    if not callable(function):
        return "The source has no function `reference`, and the form has no torch code to compare with."
    written = launch.reference_call
    if written is not None:
        return Reference("the script's call of reference(…)", launch, _repeated(function, written))
    return _by_names(launch, function)


def _from_benchmark(launch: CapturedLaunch) -> list[Reference]:
    """Return the benchmark's other lines, which compute the same in the kernel's precision."""
    run, namespace = launch.capture_context.run, launch.namespace
    _, description = benchmark.find(namespace)

    def results(line: Any, _change: object) -> Any:
        return benchmark.results_of_line(run, namespace, line)

    return [
        Reference(f"the benchmark's line {name}", launch, partial(results, line), (None,))
        for line, name in benchmark.lines_of(description, launch.facts.kernel)[1:]
    ]


def _repeated(function: Callable[..., Any], call: ReferenceCall) -> Callable[..., Any]:
    def compute(change: Callable[[Any], Any]) -> Any:
        return function(*change(call.arguments), **change(call.keywords))

    return compute


def _by_names(launch: CapturedLaunch, function: Callable[..., Any]) -> Reference | str:
    known = _arguments_by_name(launch)
    chosen: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name.lower() in known:
            chosen[name] = known[name.lower()]
        elif parameter.default is parameter.empty:
            if name not in launch.namespace:
                return (
                    f"`{name}` of reference(…) has no value: no argument of {launch.facts.kernel} "
                    "and no global variable of the script has this name."
                )
            chosen[name] = launch.namespace[name]
    return Reference(f"reference({', '.join(chosen)})", launch, lambda change: function(**change(chosen)))


def _arguments_by_name(launch: CapturedLaunch) -> dict[str, Any]:
    """Return the original arguments of the kernel by name in lower case, also without suffixes."""
    known: dict[str, Any] = {}
    for name, value in launch.arguments.items():
        tensor = launch.tensors.get(name)
        known[name.lower()] = value if tensor is None else launch.before.of(tensor)
    for name, value in list(known.items()):
        known.setdefault(_SUFFIX.sub("", name), value)
    return known


def _from_text(launch: CapturedLaunch, text: str) -> Reference | str:
    text = textwrap.dedent(text).strip()
    try:
        body = ast.parse(text, "reference", "eval")
        source: str | ast.Expression = body
        is_expression = True
    except SyntaxError:
        source = f"def reference():\n{textwrap.indent(text, '    ')}"
        is_expression = False
    try:
        code = compile(source, "reference", "eval" if is_expression else "exec")
    except SyntaxError as error:
        return (
            f"Syntax error in the reference: {error.msg} (line {(error.lineno or 1) - (not is_expression)})."
        )

    def compute(change: Callable[[Any], Any]) -> Any:
        arguments = {**_arguments_by_name(launch)}
        exact = {name: arguments[name.lower()] for name in launch.arguments}
        short = {_SUFFIX.sub("", name): value for name, value in exact.items()}
        names = {"torch": torch, **launch.namespace, **change({**arguments, **short, **exact})}
        if is_expression:
            return eval(code, names)  # noqa: S307  the user's code is what this process is for
        exec(code, names)  # noqa: S102  the user's code
        return names["reference"]()

    return Reference("the torch code of the form", launch, compute)


def _widen(precision: torch.dtype | None) -> Callable[[torch.Tensor], torch.Tensor]:
    def widen(tensor: torch.Tensor) -> torch.Tensor:
        if precision is None or not tensor.is_floating_point():
            return tensor.clone()
        return tensor.to(precision, copy=True)

    return widen


@contextmanager
def _exact_products() -> Iterator[None]:
    """Compute products in full fp32. PyTorch uses TF32 for convolutions by default."""
    backends = (torch.backends.cuda.matmul, torch.backends.cudnn)
    before = [backend.allow_tf32 for backend in backends]
    try:
        for backend in backends:
            backend.allow_tf32 = False
        yield
    finally:
        for backend, value in zip(backends, before, strict=True):
            backend.allow_tf32 = value


def _tensors(value: Any) -> list[torch.Tensor]:
    """Return the tensors in the result of a reference, in order."""
    if isinstance(value, torch.Tensor):
        return [value.detach()]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for item in value for tensor in _tensors(item)] if isinstance(value, list | tuple) else []
