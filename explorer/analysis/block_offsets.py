"""Offsets of a kernel that lie apart, and offsets of blocks that are the same elements in another order.

In: a function of a Python source, and the integer arguments and the grid of a launch. Out: the sums
`i + tl.arange(0, N) * n` where `i` counts from 0 to n, with `i * N + tl.arange(0, N)` for each.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from explorer.analysis.python_loops import called_name, is_call


def block_offsets(
    function: ast.FunctionDef, counts: Mapping[str, int], grid: Sequence[int], text: Callable[[ast.expr], str]
) -> Iterator[tuple[ast.expr, ast.expr, str]]:
    """Yield the index and the product of each such sum, and the text with consecutive elements.

    `counts` are the values of integer arguments. `text` returns the source text of an expression.
    """
    names = _Names(function, counts, grid, text)
    for node in ast.walk(function):
        for index, product in _sums(node):
            if changed := names.in_blocks(index, product):
                yield index, product, changed


class _Names:
    """The names of a kernel that have one value: what they stand for."""

    def __init__(
        self,
        function: ast.FunctionDef,
        counts: Mapping[str, int],
        grid: Sequence[int],
        text: Callable[[ast.expr], str],
    ) -> None:
        self._text = text
        self._counts = counts
        self._grid = grid
        values: dict[str, list[ast.expr]] = {}
        self._loops: dict[str, ast.expr] = {}
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Assign)
                and len(node.targets) == 1
                and isinstance(node.targets[0], ast.Name)
            ):
                values.setdefault(node.targets[0].id, []).append(node.value)
            elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
                values.setdefault(node.target.id, []).append(node.target)
                if (count := _count_of(node.iter)) is not None:
                    self._loops[node.target.id] = count
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                values.setdefault(node.target.id, []).append(node.target)
        self._values = {name: found[0] for name, found in values.items() if len(found) == 1}

    def in_blocks(self, index: ast.expr, product: ast.expr) -> str:
        """Return the sum of an index and a product with the elements of a block in their place.

        Return "" unless the elements are multiplied by the number of values of the index.
        """
        if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
            for elements, count in ((product.left, product.right), (product.right, product.left)):
                call = self._value(elements)
                if not is_call(call, "arange") or [self._text(each) for each in call.args[:-1]] != ["0"]:
                    continue
                if self._counts_to(index, count):
                    return f"{self._text(index)} * {self._text(call.args[1])} + {self._text(elements)}"
        return ""

    def _counts_to(self, index: ast.expr, count: ast.expr) -> bool:
        """Return whether an index has the values from 0 to `count`."""
        if isinstance(index, ast.Name) and index.id in self._loops:
            return self._text(self._loops[index.id]) == self._text(count)
        call, number = self._value(index), self._value(count)
        if not is_call(call, "program_id"):
            return False
        axis = _axis(call)
        if is_call(number, "num_programs"):
            return axis == _axis(number)
        known = self._counts.get(number.id) if isinstance(number, ast.Name) else None
        return known is not None and axis < len(self._grid) and known == self._grid[axis]

    def _value(self, node: ast.expr) -> ast.expr:
        """Return what a name stands for; other expressions as they are."""
        return self._values.get(node.id, node) if isinstance(node, ast.Name) else node


def _sums(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the neighboring terms of a sum, in both orders."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        first = node.left
        if isinstance(first, ast.BinOp) and isinstance(first.op, ast.Add):
            first = first.right
        yield first, node.right
        yield node.right, first


def _axis(call: ast.Call) -> int:
    """Return the axis of the grid that a call asks for; -1: it is no number."""
    given = [*call.args, *(each.value for each in call.keywords)]
    value = given[0].value if len(given) == 1 and isinstance(given[0], ast.Constant) else -1
    return value if isinstance(value, int) else -1


def _count_of(iterable: ast.expr) -> ast.expr | None:
    """Return the number of turns of a loop over a range from 0 in steps of 1; None: it is another loop."""
    if not isinstance(iterable, ast.Call) or called_name(iterable) not in ("range", "static_range"):
        return None
    arguments = iterable.args
    if len(arguments) == 2 and isinstance(arguments[0], ast.Constant) and arguments[0].value == 0:
        return arguments[1]
    return arguments[0] if len(arguments) == 1 else None
