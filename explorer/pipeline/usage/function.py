"""Evaluates a kernel, and the functions that it calls, with the values of their arguments."""

from __future__ import annotations

import ast
import contextlib
import itertools
from dataclasses import replace
from typing import Any

import triton.language as tl
from triton.runtime.jit import JITCallable

from explorer.pipeline.usage.facts import Atom, Usage
from explorer.pipeline.usage.library import Library
from explorer.pipeline.usage.notes import Notes
from explorer.pipeline.usage.strides import innermost_strides
from explorer.pipeline.usage.values import INTEGER, NOTHING, Kind, Value, added, direct, join

_DEEPEST_CALL = 8


def find_usage(jit_function: Any) -> Usage:
    """Return how `jit_function` uses its parameters."""
    usage = Usage()
    parameters = {
        parameter.name: Value(
            sums=frozenset([(Atom(parameter.name),)]), inputs=frozenset([Atom(parameter.name)])
        )
        for parameter in jit_function.params
    }
    # If the analysis fails, parameters have no facts; the kernel is still compiled.
    with contextlib.suppress(Exception):
        notes = Notes(usage, jit_function)
        strides = innermost_strides(jit_function.parse().body[0])
        usage.innermost_strides = {name: notes.line(node) for name, node in strides.items()}
        _Function(usage, jit_function, 0).run(parameters)
    return usage


class _Function:
    """The evaluation of one function with the values of its arguments."""

    def __init__(self, usage: Usage, function: Any, depth: int) -> None:
        self._usage = usage
        self._notes = Notes(usage, function)
        self._library = Library(self._notes)
        self._function = function
        self._depth = depth
        self._scope = function.get_capture_scope()
        self._returned = NOTHING

    def run(self, arguments: dict[str, Value]) -> Value:
        self._notes.names = dict(arguments)
        definition = self._function.parse().body[0]
        self._block(definition.body)
        return self._returned

    # --- statements -------------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self._usage.spend()
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                evaluated = self._value(value)
                for target in targets:
                    self._assign(target, evaluated)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._value(value))
            case ast.AugAssign(target=ast.Name() as target, op=operator, value=value):
                left = ast.copy_location(ast.Name(target.id, ast.Load()), target)
                self._assign(target, self._binary(node, left, operator, value))
            case ast.If(test=test, body=body, orelse=orelse):
                self._condition(test)
                self._branches([body, orelse])
            case ast.For(target=target, iter=iterated, body=body):
                self._assign(target, self._value(iterated))
                for _ in range(2):
                    self._branches([body, []])
            case ast.While(test=test, body=body):
                for _ in range(2):
                    self._condition(test)
                    self._branches([body, []])
            case ast.Return(value=ast.expr() as value):
                self._returned = join([self._returned, self._value(value)])
            case ast.Expr(value=value):
                self._value(value)
            case ast.With(items=items, body=body):
                for item in items:
                    self._value(item.context_expr)
                self._block(body)
            case ast.Assert(test=test):
                self._condition(test)

    def _branches(self, bodies: list[list[ast.stmt]]) -> None:
        before = self._notes.names
        results = []
        for body in bodies:
            self._notes.names = dict(before)
            self._block(body)
            results.append(self._notes.names)
        names = {name for result in results for name in result}
        self._notes.names = {
            name: join([result[name] for result in results if name in result]) for name in names
        }

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._notes.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for index, element in enumerate(target.elts):
                whole = replace(value, items=())
                self._assign(element, value.items[index] if index < len(value.items) else whole)

    # --- expressions ------------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> Value:
        match node:
            case ast.Name(id=name):
                if name in self._notes.names:
                    return self._notes.names[name]
                return self._global(self._scope.get(name, len if name == "len" else None))
            case ast.Constant(value=constant):
                return Value("float" if isinstance(constant, float) else "", constant=constant)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._binary(node, left, operator, right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._condition(operand)
                return NOTHING
            case ast.UnaryOp(operand=operand):
                return self._value(operand)
            case ast.BoolOp(values=values):
                for each in values:
                    self._condition(each)
                return NOTHING
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._condition(test)
                return join([self._value(body), self._value(orelse)])
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                items = tuple(self._value(element) for element in elements)
                return replace(join(items), items=items, sums=frozenset())
            case ast.Subscript(value=value, slice=index):
                indexed, position = self._value(value), self._value(index)
                if indexed.items and isinstance(position.constant, int):
                    return indexed.items[position.constant % len(indexed.items)]
                return replace(indexed, items=())
            case ast.Attribute(value=value, attr=attribute):
                return self._attribute(self._value(value), attribute)
            case ast.Call():
                return self._call(node)
        return NOTHING

    def _global(self, found: Any) -> Value:
        if isinstance(found, tl.constexpr):
            found = found.value
        constant = found if isinstance(found, bool | int | float | str) else ...
        return Value("float" if isinstance(found, float) else "", callee=found, constant=constant)

    def _attribute(self, base: Value, name: str) -> Value:
        if base.callee is not None:
            return self._global(getattr(base.callee, name, None))
        if name == "T":
            return base
        return INTEGER if name in ("shape", "strides") else NOTHING

    def _condition(self, node: ast.expr) -> None:
        self._notes.note(self._value(node).atoms, "condition", node)

    def _compare(self, node: ast.Compare) -> Value:
        operands = [node.left, *node.comparators]
        values = [self._value(operand) for operand in operands]
        for left, right in itertools.pairwise(values):
            for one, other in ((left, right), (right, left)):
                constants = [item.constant for item in other.items] or [other.constant]
                for constant in constants:
                    if constant is not ... and constant is not None:
                        self._notes.note(one.atoms, "compared", node, constant)
                if isinstance(getattr(other, "callee", None), tl.dtype):
                    self._notes.note(one.atoms, "dtype", node, other.callee)
                if other.kind == "integer":
                    self._notes.note_inputs(direct(one), "integer", node)
                elif other.kind == "float":
                    self._notes.note(one.atoms, "float", node)
        return NOTHING

    def _binary(
        self, node: ast.AST, left_node: ast.expr, operator: ast.operator, right_node: ast.expr
    ) -> Value:
        left, right = self._value(left_node), self._value(right_node)
        inputs = left.inputs | right.inputs
        if line := self._notes.line(node):
            self._usage.operand_lines.update(dict.fromkeys((*left.atoms, *right.atoms), line))
        kind: Kind = "float" if "float" in (left.kind, right.kind) else ""
        if "integer" in (left.kind, right.kind) and not kind:
            kind = "integer"
        match operator:
            case ast.FloorDiv() | ast.Mod() | ast.LShift() | ast.RShift():
                for side in (left, right):
                    self._notes.note(side.atoms, "integer", node)
                if isinstance(operator, ast.LShift | ast.RShift):
                    self._notes.note_inputs(right.inputs, "bits", node)
                return Value("integer", inputs=inputs)
            case ast.Div():
                for side in (left, right):
                    self._notes.note(side.atoms, "near float", node)
                return Value("float", inputs=inputs)
            case ast.BitAnd() | ast.BitOr() | ast.BitXor():
                return Value(kind, inputs=inputs)
        for side, other in ((left, right), (right, left)):
            if other.kind == "integer":
                self._notes.note((atom for atom in side.atoms if not atom.depth), "near integer", node)
            elif other.kind == "float" or any(atom.depth for atom in other.inputs):
                self._notes.note((atom for atom in side.atoms if not atom.depth), "near float", node)
        sums: frozenset[tuple[Atom, ...]] = frozenset()
        if isinstance(operator, ast.Add):
            sums = added(left, right)
        elif isinstance(operator, ast.Sub):
            sums = left.sums
        dtype = left.dtype if left.dtype == right.dtype else ""
        return Value(kind, sums, inputs, dtype)

    # --- calls ------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        is_method, called = False, NOTHING
        if isinstance(node.func, ast.Attribute):
            base = self._value(node.func.value)
            called = self._attribute(base, node.func.attr)
            is_method = base.callee is None and called.callee is None
        else:
            base, called = NOTHING, self._value(node.func)
            self._notes.note(called.atoms, "function", node.func)
        positional = [
            self._value(each.value if isinstance(each, ast.Starred) else each) for each in node.args
        ]
        named = {each.arg: self._value(each.value) for each in node.keywords if each.arg is not None}
        function = called.callee
        if function is tl.pointer_type:
            return Value(callee=tl.pointer_type(tl.int8))
        if function is len and positional:
            self._notes.note(positional[0].atoms, "items", node)
            return INTEGER
        if isinstance(function, JITCallable) and not _is_library(function):
            return self._follow(function, positional, named)
        name = getattr(function, "__name__", "") or _last_name(node.func)
        if is_method:
            positional.insert(0, base)
        return self._library.call(node, name, positional, named, is_method=is_method)

    def _follow(self, function: Any, positional: list[Value], named: dict[str, Value]) -> Value:
        if self._depth >= _DEEPEST_CALL or not hasattr(function, "get_capture_scope"):
            return join([*positional, *named.values()])
        names = [parameter.name for parameter in function.params]
        given = {**dict(zip(names, positional, strict=False)), **named}
        for parameter in function.params:
            if parameter.name not in given and parameter.has_default:
                given[parameter.name] = self._global(parameter.default)
        return _Function(self._usage, function, self._depth + 1).run(given)


def _is_library(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).startswith("triton.")


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
