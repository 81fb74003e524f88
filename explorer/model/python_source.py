"""Parse Python while other threads parse.

Source: CPython 3.11, `Python/Python-ast.c`: all threads share one counter of the recursion. If a garbage
collection lets another thread parse, `ast.parse` raises SystemError. CPython 3.11.8 corrects it (gh-106905).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

_parse: Callable[..., ast.Module] = ast.parse
_MOST_ATTEMPTS = 100


def parse(source: str, *arguments: Any, **options: Any) -> ast.Module:
    """Parse `source` as `ast.parse` does, and again if another thread has disturbed the parser.

    A lock would not help: libraries parse, too.
    """
    for _ in range(_MOST_ATTEMPTS):
        try:
            return _parse(source, *arguments, **options)
        except SystemError as error:
            if "recursion depth mismatch" not in str(error):
                raise
    return _parse(source, *arguments, **options)
