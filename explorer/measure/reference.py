"""Finds what a kernel's results are compared with, and computes it in a higher precision than the kernel.

That is torch code from the form, or the script's function `reference`: as the script has called it, or else
with the kernel's arguments, each by its name.
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
from typing import TYPE_CHECKING, Any

import torch

from explorer.measure import benchmark
from explorer.measure.reference_calls import REFERENCE, ReferenceCall, map_tensors
from explorer.pipeline.script import describe, place_of

if TYPE_CHECKING:
    from explorer.measure.captured import CapturedLaunch

#: What a kernel's parameter is called beyond the name of what it points to.
_SUFFIX = re.compile(r"_?(ptrs?|pointers?|desc|descriptor)$", re.IGNORECASE)

#: In which types to compute, in this order, until one works: None is as the tensors are.
PRECISIONS: tuple[torch.dtype | None, ...] = (torch.float64, torch.float32, None)


class ReferenceFailed(Exception):
    """The reference does not work, in any precision."""


@dataclass(frozen=True)
class Reference:
    """Code that computes what the kernel should. `text` says where it is from."""

    text: str
    launch: CapturedLaunch
    call: Callable[[Callable[[Any], Any]], Any]
    precisions: tuple[torch.dtype | None, ...] = PRECISIONS

    def as_written(self) -> object:
        """Compute in the types of the kernel's arguments."""
        with self.launch.as_the_script():
            return self.call(lambda value: value)

    def in_high_precision(self) -> list[torch.Tensor]:
        """Return the tensors that it computes, from inputs in the highest precision that works.

        Raises:
            ReferenceFailed: none does.
        """
        problem = ""
        for precision in self.precisions:
            try:
                with self.launch.as_the_script(), _exact_products(), torch.no_grad():
                    return _tensors(self.call(partial(map_tensors, _widen(precision))))
            except Exception as error:  # code of the user's may fail in any way
                # Not the error itself: it would keep the tensors alive that the next attempt has no room for.
                line = place_of(error).line
                problem = problem or f"{describe(error)}{f' (line {line})' if line else ''}"
            torch.cuda.empty_cache()
        raise ReferenceFailed(problem)


def find_references(launch: CapturedLaunch) -> list[Reference] | str:
    """Return the references of a launch, the best one first, or why there is none."""
    run = launch.capturing.run
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
    run, namespace = launch.capturing.run, launch.namespace
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
                    f"Nothing says what `{name}` of reference(…) is: no argument of {launch.facts.kernel} "
                    "and no global name of the script is called so."
                )
            chosen[name] = launch.namespace[name]
    return Reference(f"reference({', '.join(chosen)})", launch, lambda change: function(**change(chosen)))


def _arguments_by_name(launch: CapturedLaunch) -> dict[str, Any]:
    """Return what the kernel was given before it ran, by names in lower case, without suffixes too."""
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
        return f"The reference is no Python: {error.msg} (line {(error.lineno or 1) - (not is_expression)})."

    def compute(change: Callable[[Any], Any]) -> Any:
        arguments = {**_arguments_by_name(launch)}
        exact = {name: arguments[name.lower()] for name in launch.arguments}
        short = {_SUFFIX.sub("", name): value for name, value in exact.items()}
        names = {"torch": torch, **launch.namespace, **change({**arguments, **short, **exact})}
        if is_expression:
            return eval(code, names)  # noqa: S307  the user's code is what this process is for
        exec(code, names)  # noqa: S102
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
    """Compute products of fp32 as such: PyTorch takes TF32 for convolutions by default."""
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
    """Return the tensors in what a reference returns, in order."""
    if isinstance(value, torch.Tensor):
        return [value.detach()]
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for item in value for tensor in _tensors(item)] if isinstance(value, list | tuple) else []
