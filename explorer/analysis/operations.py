"""Which lines of a stage's text are operations or instructions, and how many of them a source line became.

In: the shown lines of a stage and its language. Out: whether each is one; labels, directives, declarations,
comments, closing braces and what only continues the line before are not. The Python AST has none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

_MLIR = re.compile(
    r'^\s*(?:%[\w$.:,\s%#-]*=\s)?\s*"?(?!\w+\.func\b|llvm\.mlir\.global\b)[a-z_]\w*\.[a-z_][\w.]*\b'
)
_PATTERNS = {
    "ttir": _MLIR,
    "ttgir": _MLIR,
    "glir": _MLIR,
    "mlir-llvm": _MLIR,
    # An instruction is indented; so are the cases of a switch, which begin with a type and a value.
    "llir": re.compile(r"^\s+(?:%[\w$.\"-]+ = )?(?!i\d+ -?\d+, label )[a-z]\w*\b(?!:)"),
    "ptx": re.compile(r"^\s*(?:\{\s*)?(?:@!?%\w+\s+)?(?!\.)[a-z][\w.:]*(?:\s.*)?;"),
    "sass": re.compile(r"/\*[0-9a-f]{4,}\*/\s+\S"),
    "amdgcn": re.compile(r"^\s+[a-z]\w*(?:\s|$)"),
}


def operation_lines(lines: Iterable[str], language: str) -> list[bool]:
    """Say of each line whether it is an operation or an instruction."""
    pattern = _PATTERNS.get(language)
    if pattern is None:
        return [False for _ in lines]
    return [pattern.search(line) is not None for line in lines]


def operations_by_source_line(
    is_operation: Sequence[bool], source_lines: Sequence[Sequence[int]]
) -> dict[int, int]:
    """Count the operations that stem from each source line; one that stems from two counts for both."""
    counts: Counter[int] = Counter()
    for is_one, numbers in zip(is_operation, source_lines, strict=False):
        if is_one:
            counts.update(numbers)
    return dict(sorted(counts.items()))
