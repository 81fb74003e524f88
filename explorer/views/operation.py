"""What a view says about itself: the API's description is made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from explorer.analyses import Parameter

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True)
class Operation:
    """What a view takes and answers.

    `answers` maps a status to a type of JSON, several of them as a tuple, a media type, or nothing.
    """

    answers: dict[int, Any]
    body: type | None
    query: tuple[Parameter, ...]


def documented(
    answers: dict[int, Any], body: type | None = None, *query: Parameter
) -> Callable[[View], View]:
    """Declare what a view takes and answers; its docstring says what it does."""

    def declare(view: View) -> View:
        view.operation = Operation(answers, body, query)  # type: ignore[attr-defined]
        return view

    return declare


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """What a view has declared."""
    return getattr(view, "operation", None)
