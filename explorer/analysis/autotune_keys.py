"""The arguments that bound the work of an autotuned kernel, but that its `key` leaves out.

In: the source, the name of the kernel, and the arguments that its configurations set. Out: `LeftOut`, with
the line that adds the arguments to the key. Nothing is said of a key that is not a list of texts.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from explorer.analysis.python_loops import called_name
from explorer.analysis.reached import reached
from explorer.analysis.source_edits import EditableSource
from explorer.model import LineEdit

_RANGES = ("range", "static_range")


@dataclass(frozen=True)
class LeftOut:
    """The arguments in the key, and the arguments that it leaves out, each with the lines that they bound.

    `edit` adds them to the key; None: the key does not end in its first line.
    """

    line: int
    keys: tuple[str, ...]
    bounds: dict[str, list[int]]
    edit: LineEdit | None


def left_out_keys(
    source: EditableSource, kernel: str, integers: Collection[str], tuned: Collection[str]
) -> LeftOut | None:
    """Return which of the arguments `integers` bound the work, but are not in the key; None: no such ones.

    An argument bounds the work if it bounds a range, or if blocks of a size in `tuned` share it, in `cdiv` or
    in a mask. An argument that the kernel assigns says nothing.
    """
    function = source.function(kernel)
    key = _key(function) if function else None
    if function is None or key is None:
        return None
    keys = tuple(
        each.value for each in key.elts if isinstance(each, ast.Constant) and type(each.value) is str
    )
    if len(keys) != len(key.elts):
        return None
    bounds: dict[str, list[int]] = {}
    assigned = {
        each.id
        for each in ast.walk(function)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    for bound in _bounds(function, set(tuned)):
        for name in sorted(_names(bound) & set(integers) - assigned - set(keys)):
            bounds.setdefault(name, []).append(bound.lineno)
    return LeftOut(key.lineno, keys, bounds, source.with_texts(key, bounds)) if bounds else None


def _key(function: ast.FunctionDef) -> ast.List | None:
    """Return the list `key` of the decorator `autotune`."""
    for each in function.decorator_list:
        if isinstance(each, ast.Call) and called_name(each) == "autotune":
            given = [*each.args[1:2], *(one.value for one in each.keywords if one.arg == "key")]
            return given[0] if given and isinstance(given[0], ast.List) else None
    return None


def _bounds(function: ast.FunctionDef, tuned: set[str]) -> Iterator[ast.expr]:
    """Yield the expressions that bound the work."""
    elements = _elements(function, tuned)
    for node in ast.walk(function):
        found: list[ast.expr] = []
        if (
            isinstance(node, ast.For)
            and isinstance(node.iter, ast.Call)
            and called_name(node.iter) in _RANGES
        ):
            found = node.iter.args[:2][-1:]
        elif isinstance(node, ast.Call) and called_name(node) == "cdiv" and _names(node) & tuned:
            found = [each for each in node.args[:1] if isinstance(each, ast.Name)]
        elif isinstance(node, ast.Compare) and _has_elements(node.left, elements, tuned):
            is_bound = isinstance(node.ops[0], ast.Lt)
            found = [each for each in node.comparators[:1] if is_bound and isinstance(each, ast.Name)]
        yield from found


def _elements(function: ast.FunctionDef, tuned: set[str]) -> set[str]:
    """Return the variables that are computed from the elements of a block whose size is tuned."""
    assigned = [
        (each.targets[0].id, each.value)
        for each in ast.walk(function)
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    ]
    computed: dict[str, list[str]] = {}
    for target, value in assigned:
        for name in _names(value):
            computed.setdefault(name, []).append(target)
    starts = (target for target, value in assigned if _has_elements(value, set(), tuned))
    return reached(starts, computed)


def _has_elements(node: ast.expr, elements: set[str], tuned: set[str]) -> bool:
    ranges = (each for each in ast.walk(node) if called_name(each) == "arange")
    return bool(_names(node) & elements) or any(_names(each) & tuned for each in ranges)


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
