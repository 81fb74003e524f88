"""Records the script's own calls of its function `reference`, so that they can be repeated."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

#: The function of the script that computes the expected results.
REFERENCE = "reference"

#: The name of the recording decorator in the script.
WATCHING = "__watch_reference__"


@dataclass(frozen=True)
class ReferenceCall:
    """A call of `reference` with copies of its arguments."""

    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


def watch(tree: ast.Module) -> ast.Module:
    """Add the recording decorator to the script's top-level function `reference`."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == REFERENCE:
            name = ast.copy_location(ast.Name(WATCHING, ast.Load()), statement)
            statement.decorator_list.append(name)
    return tree


class ReferenceWatch:
    """Keeps the first call of `reference` after the launch, or else the last call before it."""

    def __init__(self, has_launched: Callable[[], bool]) -> None:
        self._has_launched = has_launched
        self._is_after = False
        self.call: ReferenceCall | None = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            if not self._is_after:
                self._is_after = self._has_launched()
                self.call = ReferenceCall(map_tensors(_copy, args), map_tensors(_copy, kwargs))
            return function(*args, **kwargs)

        return watched


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone()


def map_tensors(change: Callable[[torch.Tensor], torch.Tensor], value: Any) -> Any:
    """Return `value` with its tensors changed, also those in tuples, lists and dicts."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(change, item) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(map_tensors(change, item) for item in value)
    if isinstance(value, dict):
        return {key: map_tensors(change, item) for key, item in value.items()}
    return value
