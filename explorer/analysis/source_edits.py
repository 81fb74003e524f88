"""Changes of single lines of a Python source, which keep its other text as it is.

In: the source and a place that the compiler names. Out: the line as it becomes, or None if the source has
nothing there that the change fits.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from explorer.model import LineEdit
from explorer.model.python_source import parse

_LANGUAGE = "triton.language"


class EditableSource:
    """The syntax tree of a source, and its lines."""

    def __init__(self, source: str) -> None:
        #: The lines as UTF-8, whose bytes the positions of nodes count.
        self._lines = [line.encode("utf-8", "replace") for line in source.split("\n")]
        try:
            self._nodes = list(ast.walk(parse(source)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._nodes = []

    def with_stages(self, line: int, count: int) -> LineEdit | None:
        """Give the loop at `line` a number of pipeline stages: `tl.range(…, num_stages=count)`."""
        for node in self._nodes:
            if not isinstance(node, ast.For) or node.lineno != line or not isinstance(node.iter, ast.Call):
                continue
            call, name = node.iter, ast.unparse(node.iter.func)
            if call.end_lineno != line or any(each.arg == "num_stages" for each in call.keywords):
                return None
            language = self._language()
            if name == "range" and language:
                name = f"{language}.range"
            elif name != f"{language}.range":
                return None
            end = (call.end_col_offset or 0) - 1
            arguments = self._lines[line - 1][call.func.end_col_offset or 0 : end].rstrip().rstrip(b",")
            changed = f"{name}{arguments.decode()}, num_stages={count})"
            return self._replaced(line, call.col_offset, end + 1, changed)
        return None

    def in_64_bits(self, line: int, column: int) -> LineEdit | None:
        """Convert the left operand of the operation at a position (from 1) to 64 bits.

        Of the operations that begin there, it is the innermost product, otherwise the innermost sum. If none
        begins there, it is the only product of the line.
        """
        operations = [
            node
            for node in self._nodes
            if isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Mult | ast.Add | ast.Sub)
            and node.lineno == node.left.end_lineno == line
        ]
        found = [each for each in operations if each.col_offset + 1 == column]
        if not found:
            # Triton 3.6 gives an operation the position of its last operand.
            found = [each for each in operations if isinstance(each.op, ast.Mult)]
            if len(found) > 1:
                return None
        if not found or not (language := self._language()):
            return None
        node = min(found, key=lambda each: (not isinstance(each.op, ast.Mult), each.end_col_offset or 0))
        left = node.left
        if isinstance(left, ast.Constant):
            return None
        start, end = left.col_offset, left.end_col_offset or 0
        text = self._lines[line - 1]
        if text[start - 1 : start] + text[end : end + 1] == b"()":
            end += 1
        elif not isinstance(left, ast.Name | ast.Call | ast.Attribute | ast.Subscript):
            return None
        return self._replaced(line, end, end, f".to({language}.int64)")

    def _replaced(self, line: int, start: int, end: int, text: str) -> LineEdit:
        """Return a line with other text in place of a range of bytes."""
        old = self._lines[line - 1]
        return LineEdit(line, (old[:start] + text.encode() + old[end:]).decode("utf-8", "replace"))

    def _language(self) -> str:
        """Return the name of `triton.language` in the source; "" if it has none."""
        for node in self._nodes:
            if isinstance(node, ast.Import):
                for each in node.names:
                    if each.name == _LANGUAGE:
                        return each.asname or _LANGUAGE
            if isinstance(node, ast.ImportFrom) and node.module == "triton":
                for each in node.names:
                    if each.name == "language":
                        return each.asname or "language"
        return ""


def edited(source: str, edits: Iterable[LineEdit]) -> str:
    """Return the source with changed lines. Edits of lines that it does not have are left out."""
    lines = source.split("\n")
    for each in edits:
        if each.line <= len(lines):
            lines[each.line - 1] = each.text
    return "\n".join(lines)
