"""Python AST: the kernel and the functions of the user that it calls, as a tree, one node per line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from explorer.pipeline.locations import LocationTable, frame
from explorer.pipeline.stages.stage import Artifact, StageKind, StageText

_INDENT = "  "
_NOT_SHOWN = ("kind", "type_comment", "conversion")


def _lines(node: ast.AST, prefix: str, depth: int) -> Iterator[tuple[str, ast.AST]]:
    """Yield each line of the tree below `node` with its node.

    Plain fields are on the line of the node; other fields follow, one level deeper, with their names.
    """
    plain: list[str] = []
    nested: list[tuple[str, list[Any]]] = []
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.Load | ast.Store | ast.Del):
            if not isinstance(value, ast.Load):
                plain.append(f"{name}={type(value).__name__}")
        elif isinstance(value, ast.operator | ast.unaryop | ast.cmpop | ast.boolop):
            plain.append(f"{name}={type(value).__name__}")
        elif isinstance(value, ast.AST):
            nested.append((name, [value]))
        elif isinstance(value, list):
            if value and all(isinstance(item, ast.cmpop) for item in value):
                plain.append(f"{name}={','.join(type(item).__name__ for item in value)}")
            elif value:
                nested.append((name, value))
        elif name not in _NOT_SHOWN and (value is not None or isinstance(node, ast.Constant)):
            plain.append(f"{name}={value!r}")
    line, column = _place(node)
    place = f"  # {line}:{column}" if line else ""
    yield f"{_INDENT * depth}{' '.join([prefix + type(node).__name__, *plain])}{place}", node
    for name, items in nested:
        if len(items) == 1:
            yield from _item_lines(items[0], f"{name}: ", depth + 1, node)
        else:
            yield f"{_INDENT * (depth + 1)}{name}:", node
            for item in items:
                yield from _item_lines(item, "", depth + 2, node)


def _item_lines(item: Any, prefix: str, depth: int, parent: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(item, ast.AST):
        yield from _lines(item, prefix, depth)
    else:
        yield f"{_INDENT * depth}{prefix}{item!r}", parent


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", -1) + 1


def _add_tree(file: str, function: ast.AST, table: LocationTable, shown: list[str]) -> None:
    name = getattr(function, "name", "")
    for text, node in _lines(function, "", 0):
        line, column = _place(node)
        shown.append(text)
        table.add_line([(frame(file, line, column, name),)])


def read(artifact: Artifact) -> StageText:
    """Write the trees of `artifact.value`: function definitions with their files, the kernel's first."""
    table = LocationTable()
    shown: list[str] = []
    for file, function in artifact.value:
        if shown:
            shown.append("")
            table.add_line()
        _add_tree(file, function, table, shown)
    return StageText("\n".join(shown) + "\n", None, table)


STAGE = StageKind(
    name="ast",
    title="Python AST",
    summary="syntax tree",
    language="python-ast",
    produced_by="source",
    read=read,
)
