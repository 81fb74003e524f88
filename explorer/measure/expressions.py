"""Evaluates what a user writes for a size, a value or a grid: Python over sizes and the script's names."""

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl

from explorer.pipeline.errors import user_error

_NAMES: dict[str, Any] = {
    "cdiv": triton.cdiv,
    "next_power_of_2": triton.next_power_of_2,
    "math": math,
    "torch": torch,
    "triton": triton,
    "tl": tl,
}


def evaluate(text: str, names: dict[str, Any], what: str) -> Any:
    """Return the value of `text`. `what` names it in a message.

    Raises:
        UserError: it has none.
    """
    try:
        return eval(text, {**_NAMES, **names})  # noqa: S307  the user's code is what this process is for
    except Exception as error:
        known = ", ".join(sorted(name for name in names if not name.startswith("_"))[:24])
        hint = f"There are cdiv, next_power_of_2, math, torch, tl{', ' if known else ''}{known}."
        raise user_error(f"{what}: {text!r}: {type(error).__name__}: {error}", hint=hint) from error


def evaluate_whole(text: str, names: dict[str, Any], what: str) -> int:
    """Return the value of `text`, which must be a whole number."""
    value = evaluate(text, names, what)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise user_error(f"{what}: {text!r} is {value!r}, which is no whole number.")
    return int(value)
