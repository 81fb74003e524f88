"""The lines of a stage that are operations or instructions, their kinds, and their number by source line.

In: the shown lines of a stage and its language. Out: whether each line is an operation. Labels, directives,
declarations, comments, closing braces and continuation lines are not operations. The Python AST has no
operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from explorer.model.languages import find_language


def operation_lines(lines: Iterable[str], language: str) -> list[bool]:
    """Return for each line whether it is an operation or an instruction."""
    pattern = find_language(language).operation
    if pattern is None:
        return [False for _ in lines]
    return [pattern.search(line) is not None for line in lines]


def operation_kinds(text: str, language: str) -> list[str]:
    """Return the kind of each operation or instruction of a text, in order."""
    pattern = find_language(language).operation
    if pattern is None:
        return []
    return [found["kind"] for line in text.split("\n") if (found := pattern.search(line))]


def operations_by_source_line(
    is_operation: Sequence[bool], source_lines: Sequence[Sequence[int]]
) -> dict[int, int]:
    """Count the operations that stem from each source line; an operation may count for several lines."""
    counts: Counter[int] = Counter()
    for is_one, numbers in zip(is_operation, source_lines, strict=False):
        if is_one:
            counts.update(numbers)
    return dict(sorted(counts.items()))
