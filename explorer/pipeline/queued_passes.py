"""Passes that wait to run: their names and options, and the changes of a request.

A pass can be left out, or run with other values for the options that Triton's Python functions pass on. To
find the argument that sets an option, the pass is added with another value, and the printed options are
compared.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from explorer.model import Diagnostic, Edits, Scalar
from explorer.pipeline.errors import user_error

#: A queued pass: the backend's name of it, the function that adds it, and its arguments.
Queued = tuple[str, Callable[..., None], tuple[Any, ...]]

_PIPELINE = re.compile(r"^(?P<name>[\w.-]+)(?:\{(?P<options>.*)\})?$", re.DOTALL)


def describe(pipeline: str, function_name: str) -> tuple[str, tuple[Scalar, ...]]:
    """Split MLIR's text of a pipeline of one pass, `any(name{option=value …})`, into name and options."""
    inner = pipeline
    while inner.endswith(")") and "(" in inner.split("{", 1)[0]:
        inner = inner[inner.index("(") + 1 : -1]
    found = _PIPELINE.match(inner)
    if not found:
        return function_name.removeprefix("add_"), ()
    options = found.group("options") or ""
    return found.group("name"), tuple(options.split())


def describe_added(
    real_ir: ModuleType,
    context: Any,
    add: Callable[..., None],
    arguments: tuple[Any, ...],
    function_name: str,
) -> tuple[str, tuple[Scalar, ...]]:
    """Return the MLIR name of a pass and its options."""
    manager = real_ir.pass_manager(context)
    add(manager, *arguments)
    return describe(manager.get_pipeline_str(), function_name)


@dataclass(frozen=True)
class LeftOut:
    """Replaces the function that adds a pass, for a pass that does not run."""

    name: str
    options: tuple[Scalar, ...]

    def __call__(self, *_arguments: Any) -> None:
        """Add nothing."""


class PassEdits:
    """Applies the changes of a request to all passes of one compilation, in their order."""

    def __init__(self, edits: Edits) -> None:
        self._without = edits.without_passes
        self._options = edits.pass_options
        self._seen: Counter[str] = Counter()
        self._unused = {*edits.without_passes, *edits.pass_options}

    def apply(self, real_ir: ModuleType, context: Any, queued: list[Queued]) -> list[Queued]:
        """Return the passes with the changes of the request.

        Raises:
            UserError: an option does not exist or cannot be set.
        """
        if not self._without and not self._options:
            return queued
        return [self._edited(real_ir, context, *each) for each in queued]

    def warnings(self) -> Iterator[Diagnostic]:
        """Yield a warning for each name that no pass had."""
        for name in sorted(self._unused):
            close = difflib.get_close_matches(name.partition("#")[0], self._seen, 1)
            yield Diagnostic(
                "warning",
                f"No pass {name!r} ran. Its edit has no effect.",
                hint=f"Did you mean {close[0]!r}?" if close else "",
            )

    def _edited(
        self, real_ir: ModuleType, context: Any, function: str, add: Callable[..., None], arguments: Any
    ) -> Queued:
        name, options = describe_added(real_ir, context, add, arguments, function)
        self._seen[name] += 1
        own_names = (name, f"{name}#{self._seen[name]}")
        self._unused -= set(own_names)
        if any(own in self._without for own in own_names):
            return function, LeftOut(name, options), ()
        wanted = {key: value for own in own_names for key, value in self._options.get(own, {}).items()}
        if not wanted:
            return function, add, arguments
        positions = _positions(real_ir, context, function, add, arguments)
        changed = list(arguments)
        for option, value in wanted.items():
            if option not in positions:
                known = ", ".join(positions) or "none"
                raise user_error(
                    f"The option {option!r} of the pass {name} cannot be set.",
                    hint=f"Options that can be set: {known}.",
                )
            changed[positions[option]] = _converted(value, arguments[positions[option]], f"{name}: {option}")
        return function, add, tuple(changed)


def _positions(
    real_ir: ModuleType, context: Any, function: str, add: Callable[..., None], arguments: tuple[Any, ...]
) -> dict[str, int]:
    """Return which argument of the function that adds a pass sets which of its options."""

    def options(values: tuple[Any, ...]) -> set[str]:
        return {str(each) for each in describe_added(real_ir, context, add, values, function)[1]}

    before = options(arguments)
    positions: dict[str, int] = {}
    for index, value in enumerate(arguments):
        with contextlib.suppress(Exception):  # the function takes no other value
            other = _another(value)
            for changed in options((*arguments[:index], other, *arguments[index + 1 :])) - before:
                positions.setdefault(changed.partition("=")[0], index)
    return positions


def _another(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return f"{value}0"
    raise TypeError(type(value).__name__)


def _converted(value: Scalar, like: Any, what: str) -> Any:
    """Return a requested value with the type of the present value.

    Raises:
        UserError: the value has a different type.
    """
    text = str(value).strip()
    if isinstance(like, bool):
        if text.lower() in ("true", "1"):
            return True
        if text.lower() in ("false", "0"):
            return False
        raise user_error(f"{what} must be true or false, got {value!r}.")
    if isinstance(like, int):
        if re.fullmatch(r"-?\d{1,9}", text):
            return int(text)
        raise user_error(f"{what} must be a whole number, got {value!r}.")
    return text
