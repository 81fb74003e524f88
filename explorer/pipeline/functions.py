"""The `jit` functions that a kernel consists of, and their positions in their files."""

from __future__ import annotations

import ast
import linecache
import re
from typing import Any

from explorer.pipeline.user_source import embedded_trees, is_users, number_of


def file_of(function: Any) -> str:
    """Return the path of the file that contains a `jit` function."""
    return str(function.fn.__code__.co_filename)


def called_functions(function: Any) -> list[Any]:
    """Return a kernel and the `jit` functions that it calls, directly or indirectly, the kernel first."""
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


def function_trees(kernel: Any) -> list[tuple[str, ast.FunctionDef]]:
    """Return the syntax trees of the kernel and of the user's functions that it calls, with their files."""
    definitions: dict[str, dict[tuple[str, int], ast.FunctionDef]] = {}
    trees = []
    for function in called_functions(kernel):
        code, file = function.fn.__code__, file_of(function)
        if not is_users(file):
            continue
        if file not in definitions:
            definitions[file] = _definitions("".join(linecache.getlines(file)))
        definition = definitions[file].get((code.co_name, code.co_firstlineno))
        if definition is not None:
            trees.append((file, definition))
    return trees


def _definitions(source: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """Return the functions of a source by their names and first lines, including the lines of decorators."""
    tree = ast.parse(source)
    return {
        (node.name, line): node
        for part in (tree, *embedded_trees(tree))
        for node in ast.walk(part)
        if isinstance(node, ast.FunctionDef)
        for line in [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
    }


def definition_line(function: Any) -> int:
    """Return the line of a `jit` function's `def`, below the decorators."""
    line = int(function.starting_line_number) + _lines_above_definition(function)
    return number_of(file_of(function), line) or line


def _lines_above_definition(function: Any) -> int:
    found = (number for number, line in enumerate(function.raw_src) if re.match(r"\s*def\s", line))
    return next(found, 0)


def place_of(function: Any, node: Any) -> tuple[int, int, int, int]:
    """Return the position of a node of a function's source: line, column, end line and column."""
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
