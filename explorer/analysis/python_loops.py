"""Loops of a Python source whose bodies Triton copies, and the expression at a position.

In: the source of a kernel, and the values of its constexprs. Out: the loops over `static_range`, and over a
`range` with `loop_unroll_factor`, with the number of copies. A source that is no Python has none.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from explorer.model import Scalar
from explorer.model.python_source import parse
from explorer.model.source_lines import lines_of

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
#: No constexpr of a kernel has more bits.
_MOST_BITS = 64
#: An expression of deeper nested operations is not computed.
_MOST_NESTED = 100


@dataclass(frozen=True)
class CopiedLoop:
    """A loop from `line` to `last_line`. `call` is the call that it iterates over, such as "tl.static_range".

    `copies` is the number of copies of its body; None: the source does not say it.
    """

    line: int
    last_line: int
    call: str
    copies: int | None


class PythonSource:
    """The syntax tree of a source."""

    def __init__(self, source: str) -> None:
        #: The lines as UTF-8, whose bytes the positions of nodes count.
        self._lines = [line.encode("utf-8", "replace") for line in lines_of(source)]
        self._nodes = nodes_of(source)

    def copied_loops(self, kernel: str, constants: Mapping[str, Scalar]) -> Iterator[CopiedLoop]:
        """Yield the copied loops. `constants` are the values of the constexprs of the function `kernel`."""
        functions = [each for each in self._nodes if isinstance(each, ast.FunctionDef)]
        own = {id(node) for each in functions if each.name == kernel for node in ast.walk(each)}
        for node in self._nodes:
            if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
                continue
            name = called_name(node.iter)
            factor = [each.value for each in node.iter.keywords if each.arg == "loop_unroll_factor"]
            if name == "static_range" or (name == "range" and factor):
                known = constants if id(node) in own else {}
                copies = _turns(node.iter, known) if name == "static_range" else _value(factor[0], known)
                call = self._text(node.iter.func)
                yield CopiedLoop(node.lineno, node.end_lineno or node.lineno, call, copies)

    def loop_at(self, line: int) -> int:
        """Return the number of the innermost loop that contains a line, by order from 1; 0: none."""
        loops = sorted(
            (node.lineno, node.end_lineno or node.lineno)
            for node in self._nodes
            if isinstance(node, ast.For | ast.While)
        )
        holders = (number for number, (first, last) in enumerate(loops, 1) if first <= line <= last)
        return max(holders, default=0)

    def expression_at(self, line: int, column: int, *, is_call: bool) -> str:
        """Return the expression that begins at a position (from 1); "" if there is none.

        Of several, it is the longest; with `is_call`, the shortest call, if one begins there.
        """
        found = [
            (isinstance(node, ast.Call), self._text(node))
            for node in self._nodes
            if isinstance(node, ast.expr) and (node.lineno, node.col_offset + 1) == (line, column)
        ]
        calls = [text for is_one, text in found if is_one and is_call]
        text = min(calls, key=len) if calls else max((text for _, text in found), key=len, default="")
        return " ".join(text.split())

    def _text(self, node: ast.expr) -> str:
        """Return the source text of an expression, faster than `ast.get_source_segment` in long sources."""
        lines = self._lines[node.lineno - 1 : node.end_lineno]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode("utf-8", "replace")


def nodes_of(source: str) -> list[ast.AST]:
    """Return the nodes of a source, at least its module; none if it is no Python."""
    try:
        return list(ast.walk(parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def called_name(node: ast.AST) -> str:
    """Return the last name of the function that a node calls, such as "range"; "": it calls none."""
    function = node.func if isinstance(node, ast.Call) else None
    match function:
        case ast.Attribute():
            return function.attr
        case ast.Name():
            return function.id
    return ""


def is_call(node: ast.AST, name: str) -> TypeGuard[ast.Call]:
    """Return whether a node calls a function whose last name is `name`."""
    return called_name(node) == name


def _turns(call: ast.Call, constants: Mapping[str, Scalar]) -> int | None:
    """Return the number of turns of a loop over `static_range(…)`."""
    values = [_value(each, constants) for each in call.args]
    bounds = [each for each in values if each is not None]
    try:
        return len(range(*bounds)) if bounds == values and not call.keywords else None
    except (TypeError, ValueError, OverflowError):
        return None


def _value(node: ast.expr, constants: Mapping[str, Scalar], depth: int = _MOST_NESTED) -> int | None:
    """Return the value of an expression of constants and constexprs; None: it is not known."""
    value: object = None
    match node:
        case _ if not depth:
            return None
        case ast.Constant():
            value = node.value
        case ast.Name():
            value = constants.get(node.id)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            left, right = (_value(each, constants, depth - 1) for each in (node.left, node.right))
            if left is not None and right is not None:
                try:
                    value = _OPERATORS[type(node.op)](left, right)
                except ZeroDivisionError:
                    return None
        case ast.UnaryOp(op=ast.USub()):
            inner = _value(node.operand, constants, depth - 1)
            value = None if inner is None else -inner
    return value if type(value) is int and value.bit_length() <= _MOST_BITS else None
