"""The constexprs of a kernel that cut its work into blocks.

In: the source and the name of a kernel. Out: for each constexpr, whether the programs of the grid or the
turns of a loop share the work by it. Other sizes cannot change without another result: if a size of a block
is smaller, there are more programs or more turns.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from explorer.analysis.python_loops import called_name
from explorer.model.python_source import parse


@dataclass(frozen=True)
class BlockUse:
    """The use of a constexpr.

    `by_grid`: it multiplies a number that is computed from the number of the program, so that the grid must
    change with it. `by_loop`: it is the step of a range, or divides a length into blocks.
    """

    by_grid: bool
    by_loop: bool


def block_uses(source: str, kernel: str) -> dict[str, BlockUse]:
    """Return the uses of the parameters of a kernel; none if the source has no such function."""
    try:
        nodes = ast.walk(parse(source))
        function = next(each for each in nodes if isinstance(each, ast.FunctionDef) and each.name == kernel)
    except (SyntaxError, ValueError, RecursionError, MemoryError, StopIteration):
        return {}
    names = [each.arg for each in (*function.args.args, *function.args.kwonlyargs)]
    own = _of_program(function)
    return {
        name: BlockUse(
            any(_multiplies(each, name, own) for each in ast.walk(function)),
            any(_divides(each, name) for each in ast.walk(function)),
        )
        for name in names
    }


def _of_program(function: ast.FunctionDef) -> set[str]:
    """Return the scalars that are computed from the number of the program, except for variables of loops."""
    assigned = [
        (target, each.value)
        for each in ast.walk(function)
        if isinstance(each, ast.Assign | ast.AugAssign | ast.AnnAssign) and each.value is not None
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
    ]
    found: set[str] = set()
    while True:
        more = {
            name.id
            for target, value in assigned
            if _has_program(value, found) and not _has_call(value, "arange")
            for name in ast.walk(target)
            if isinstance(name, ast.Name)
        }
        if more <= found:
            return found
        found |= more


def _has_program(node: ast.AST, own: set[str]) -> bool:
    names = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    return _has_call(node, "program_id") or any(name in own for name in names)


def _has_call(node: ast.AST, part: str) -> bool:
    """Return whether a node calls a function with this part in its name, such as a function of the source."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(part in called_name(each) for each in calls)


def _multiplies(node: ast.AST, name: str, own: set[str]) -> bool:
    """Return whether a node is a product of a constexpr and a scalar of the program, which is no product."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    return any(
        _is_name(one, name) and _has_program(other, own) and not _is_product(other)
        for one, other in ((node.left, node.right), (node.right, node.left))
    )


def _divides(node: ast.AST, name: str) -> bool:
    """Return whether a node cuts a length into blocks of this size."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        return _is_name(node.right, name)
    if not isinstance(node, ast.Call):
        return False
    function = called_name(node)
    if function == "range" and len(node.args) == 3:
        return any(_is_name(each, name) for each in ast.walk(node.args[2]))
    return function == "cdiv" and len(node.args) == 2 and _is_name(node.args[1], name)


def _is_product(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
