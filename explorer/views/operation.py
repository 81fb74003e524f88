"""Declarations of views for the description of the API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from explorer.queries import Parameter

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True)
class Operation:
    """The parameters and results of a view.

    `answers` maps a status to a type of JSON, a tuple of such types, a media type, or None. `body` is a type
    of JSON or a media type.
    """

    answers: dict[int, Any]
    body: type | str | None
    query: tuple[Parameter, ...]


def documented(
    answers: dict[int, Any], body: type | str | None = None, *query: Parameter
) -> Callable[[View], View]:
    """Declare the parameters and results of a view. Its docstring describes it in the API."""

    def declare(view: View) -> View:
        view.operation = Operation(answers, body, query)  # type: ignore[attr-defined]  # mypy knows none of a function
        return view

    return declare


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """Return the declaration of a view, or None."""
    return getattr(view, "operation", None)
