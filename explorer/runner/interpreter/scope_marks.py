"""Scope marks in the interpreter: they have no effect, because nothing is timed.

Source: triton/profiler/language.py, 3.6.0 and 3.9.0, whose functions need a compiler to emit code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import triton.profiler.language as profiler_language

from explorer.pipeline.fake_gpu import replaced
from explorer.pipeline.scopes import MARKS

#: The functions by name. The class `scope` calls these. Not every Triton version has all of them.
_FUNCTIONS = {
    name: getattr(profiler_language, name)
    for name in MARKS
    if name != "scope" and hasattr(profiler_language, name)
}


def _pass_over(*_arguments: object, **_options: object) -> None:
    """Do nothing."""


@contextmanager
def ignored_scope_marks(names: dict[str, Any]) -> Iterator[None]:
    """Make the functions that mark scopes do nothing, also where `names` of a script are bound to them."""
    bound = {
        name: value for name, value in names.items() if any(value is each for each in _FUNCTIONS.values())
    }
    names.update(dict.fromkeys(bound, _pass_over))
    try:
        with replaced([(profiler_language, name, _pass_over) for name in _FUNCTIONS]):
            yield
    finally:
        names.update(bound)
