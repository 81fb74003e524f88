"""Evaluates a user's expression for a size, a value or a grid: Python over sizes and names of the script."""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl

from explorer.pipeline.errors import user_error
from explorer.pipeline.script import describe

_NAMES: dict[str, Any] = {
    "cdiv": triton.cdiv,
    "next_power_of_2": triton.next_power_of_2,
    "math": math,
    "torch": torch,
    "triton": triton,
    "tl": tl,
}
_MOST_NAMES = 24
_MOST_CHARACTERS = 100
#: The largest width of an integer argument of a kernel.
_LEAST, _MOST = -(2**63), 2**64 - 1


def evaluate(text: str, names: dict[str, Any], what: str) -> Any:
    """Return the value of `text`. `what` names it in messages.

    Raises:
        UserError: the text has no value, or a value that no argument can have.
    """
    if not text.strip():
        raise user_error(f"{what} is empty.", hint="Give a Python expression, such as 1024 or 2 * n.")
    try:
        value = eval(text, {**_NAMES, **names})  # noqa: S307  the user's code is what this process is for
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        raise user_error(f"{what}: {text!r}: {describe(error)}", hint=_hint(names)) from error
    if isinstance(value, int):
        _check_bits(value, text, what)
    return value


def evaluate_whole(text: str, names: dict[str, Any], what: str) -> int:
    """Return the value of `text`, which must be an integer."""
    value = evaluate(text, names, what)
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not is_whole:
        raise user_error(f"{what}: {text!r} is {shown(value)}, which is not an integer.", hint=_hint(names))
    _check_bits(value, text, what)
    return int(value)


def shown(value: Any) -> str:
    """Return a value as text for a message. The object may be of the user's own class."""
    try:
        text = repr(value)
    except Exception:  # User code may raise any exception.
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} …"


def _check_bits(value: float, text: str, what: str) -> None:
    if not _LEAST <= value <= _MOST:
        raise user_error(f"{what}: {text!r} has more than 64 bits.", hint="No kernel can take it.")


def _hint(names: dict[str, Any]) -> str:
    """Return the names that can be used: the sizes, and other numbers of the script."""
    numbers = [name for name, value in names.items() if type(value) in (int, float) and name.isidentifier()]
    known = ", ".join(sorted(name for name in numbers if not name.startswith("_"))[:_MOST_NAMES])
    return f"Available names: cdiv, next_power_of_2, math, torch, tl{', ' if known else ''}{known}."
