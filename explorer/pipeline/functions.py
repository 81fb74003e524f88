"""The `jit` functions that make up a kernel: which they are, and where they stand in their files."""

from __future__ import annotations

import ast
import re
from typing import Any

from explorer.pipeline.user_source import normalize


def file_of(function: Any) -> str:
    """Return the path of the file that a `jit` function stands in."""
    return str(function.fn.__code__.co_filename)


def called_functions(function: Any) -> list[Any]:
    """Return a kernel and the `jit` functions that it calls, directly or not, the kernel first."""
    from triton.runtime.jit import JITCallable

    found: list[Any] = []
    waiting = [function]
    while waiting:
        current = waiting.pop(0)
        if current in found:
            continue
        found.append(current)
        scope = current.get_capture_scope()
        for node in ast.walk(current.parse()):
            value = None
            if isinstance(node, ast.Name):
                value = scope.get(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                value = getattr(scope.get(node.value.id), node.attr, None)
            if isinstance(value, JITCallable):
                waiting.append(value)
    return found


def function_trees(kernel: Any, source: str) -> list[ast.FunctionDef]:
    """Return the trees of the kernel and of the functions of the same file, `source`, that it calls."""
    path = file_of(kernel)
    tree = ast.parse(normalize(source))
    definitions = {
        (node.name, line): node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for line in [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
    }
    trees = []
    for function in called_functions(kernel):
        code = function.fn.__code__
        definition = definitions.get((code.co_name, code.co_firstlineno))
        if code.co_filename == path and definition is not None:
            trees.append(definition)
    return trees


def definition_line(function: Any) -> int:
    """Return the line of a `jit` function's `def` in its file, below the decorators."""
    return int(function.starting_line_number) + _lines_above_definition(function)


def _lines_above_definition(function: Any) -> int:
    found = (number for number, line in enumerate(function.raw_src) if re.match(r"\s*def\s", line))
    return next(found, 0)


def place_of(function: Any, node: Any) -> tuple[int, int, int, int]:
    """Return where a node of a function's source stands in its file: line, column, end line and column."""
    lines = function.raw_src
    first = _lines_above_definition(function)
    above = definition_line(function) - 1
    indentation = len(lines[first]) - len(lines[first].lstrip()) if lines else 0
    line, column = node.lineno + above, node.col_offset + indentation + 1
    end_line = getattr(node, "end_lineno", None)
    end_column = getattr(node, "end_col_offset", None)
    if end_line is None or end_column is None:
        return line, column, 0, 0
    return line, column, end_line + above, end_column + indentation + 1
