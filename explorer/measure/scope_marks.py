"""The scopes that kernels mark, in the interpreter: marks do nothing, since nothing is timed there.

Source: triton/profiler/language.py, 3.6.0 and 3.9.0, whose functions want a compiler to emit code for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import triton.profiler.language as profiler_language

from explorer.pipeline.fake_gpu import replaced
from explorer.pipeline.scopes import MARKS

#: By name; `scope`, a class, calls these. Some are newer than others.
_FUNCTIONS = {
    name: getattr(profiler_language, name)
    for name in MARKS
    if name != "scope" and hasattr(profiler_language, name)
}


def _pass_over(*_arguments: object, **_options: object) -> None:
    """Mark nothing."""


@contextmanager
def passed_over(names: dict[str, Any]) -> Iterator[None]:
    """Let the functions that mark scopes do nothing, also where `names` of a script are bound to them."""
    bound = {
        name: value for name, value in names.items() if any(value is each for each in _FUNCTIONS.values())
    }
    names.update(dict.fromkeys(bound, _pass_over))
    try:
        with replaced([(profiler_language, name, _pass_over) for name in _FUNCTIONS]):
            yield
    finally:
        names.update(bound)
