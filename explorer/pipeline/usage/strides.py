"""Finds the innermost strides of a kernel: the strides of neighboring elements, which usually are 1.

In: the syntax tree of a kernel. Out: parameters with "stride" in their name that are multiplied with the
offsets of a block. Of the strides of one address, the last parameter is the innermost stride. Where the
offsets of one dimension have no stride, this dimension is the innermost, and none of the strides is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

#: The names of blocks depend on each other. Few kernels need more rounds to find them.
_ROUNDS = 4


def innermost_strides(kernel: ast.FunctionDef) -> dict[str, ast.AST]:
    """Return the innermost strides, with the first expression that shows each."""
    order = [each.arg for each in (*kernel.args.posonlyargs, *kernel.args.args, *kernel.args.kwonlyargs)]
    strides = [name for name in order if "stride" in name.lower()]
    blocks = _blocks(kernel)
    found: dict[str, ast.AST] = {}
    others: set[str] = set()
    inner: set[int] = set()
    for node in ast.walk(kernel):
        if isinstance(node, ast.keyword) and node.arg == "strides":
            own = _all_strides(node.value, strides)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and id(node) not in inner:
            terms = list(_terms(node, inner))
            own = _strides_of_blocks(terms, strides, blocks)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            own = _strides_of_blocks(list(_terms(node.value, inner)), strides, blocks)
        else:
            continue
        if own:
            last = max(own, key=order.index)
            found.setdefault(last, node)
            others.update(name for name in own if name != last)
    return {name: node for name, node in found.items() if name not in others}


def _blocks(kernel: ast.FunctionDef) -> set[str]:
    """Return the names of the values that are made from `arange`."""
    blocks: set[str] = set()
    for _ in range(_ROUNDS):
        for node in ast.walk(kernel):
            targets = node.targets if isinstance(node, ast.Assign) else []
            if isinstance(node, ast.Assign) and _is_block(node.value, blocks):
                blocks.update(target.id for target in targets if isinstance(target, ast.Name))
    return blocks


def _is_block(node: ast.expr, blocks: set[str]) -> bool:
    return any(
        (isinstance(each, ast.Name) and each.id in blocks)
        or (isinstance(each, ast.Attribute) and each.attr == "arange")
        for each in ast.walk(node)
    )


def _terms(node: ast.expr, inner: set[int]) -> Iterator[ast.expr]:
    """Yield the terms of a sum. `inner` gets its partial sums."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        inner.add(id(node))
        yield from _terms(node.left, inner)
        yield from _terms(node.right, inner)
    else:
        yield node


def _strides_of_blocks(terms: Sequence[ast.expr], strides: list[str], blocks: set[str]) -> list[str]:
    """Return the strides of the dimensions of an address; nothing if a dimension has none."""
    own = []
    for term in terms:
        if not _is_block(term, blocks):
            continue
        name, offsets = _product(term, strides)
        if not name or _is_outer(offsets, terms):
            return []
        own.append(name)
    return own


def _product(term: ast.expr, strides: list[str]) -> tuple[str, ast.expr]:
    """Return the stride in a product and the offsets that it multiplies; "": the term has no stride."""
    if isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult):
        for factor, offsets in ((term.left, term.right), (term.right, term.left)):
            if isinstance(factor, ast.Name) and factor.id in strides:
                return factor.id, offsets
    return "", term


def _is_outer(offsets: ast.expr, terms: Sequence[ast.expr]) -> bool:
    """Return whether the offsets are of an outer dimension, `[:, None]`, and the sum has no other."""
    shown = [each for each in ast.walk(offsets) if isinstance(each, ast.Subscript)]
    others = [each for term in terms for each in ast.walk(term) if isinstance(each, ast.Subscript)]
    return len(others) == len(shown) > 0 and any(_ends_with_none(each) for each in shown)


def _ends_with_none(node: ast.Subscript) -> bool:
    last = node.slice.elts[-1] if isinstance(node.slice, ast.Tuple) and node.slice.elts else None
    return isinstance(last, ast.Constant) and last.value is None


def _all_strides(node: ast.expr, strides: list[str]) -> list[str]:
    """Return the strides of a descriptor or a block pointer; nothing if one is not a parameter."""
    names = [each.id for each in getattr(node, "elts", []) if isinstance(each, ast.Name)]
    is_whole = len(names) == len(getattr(node, "elts", ())) and all(name in strides for name in names)
    return names if is_whole else []
