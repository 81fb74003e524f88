"""Calls of Triton's own functions: the facts about their arguments, and the values that they return."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any

import triton.language as tl

from explorer.pipeline.usage.facts import Atom
from explorer.pipeline.usage.notes import Notes
from explorer.pipeline.usage.values import INTEGER, NOTHING, Value, direct, join, loaded

_ACCESS = re.compile(r"^(load|store|atomic_\w+|gather|scatter|reduce_\w+|async_copy\w*|buffer_\w+)$")
_POINTS_TO = re.compile(r"^(make_block_ptr|make_tensor_descriptor|_experimental_make_tensor_descriptor)$")
_FLOAT_FUNCTION = re.compile(
    r"^(fast_)?(exp|exp2|expf|log|log2|logf|log1p|expm1|sqrt|sqrt_rn|rsqrt|sin|cos|tan|tanh|erf|erfinv|sigmoid|softmax"
    r"|fdiv|div_rn|floor|ceil|fma|pow|isnan|isinf|ex2|lg2)$"
)
_INTEGER_FUNCTION = re.compile(r"^(program_id|num_programs|cdiv|thread_id|warp_id|int)$")
_RANDOM = re.compile(r"^(rand|randn|randint|philox|uint_to_uniform_float|rand4x|randn4x|randint4x)$")
_SAME = re.compile(
    r"^(multiple_of|max_contiguous|max_constancy|broadcast_to|expand_dims|reshape|view|trans|permute|ravel|abs"
    r"|maximum|minimum|max|min|sum|cumsum|flip|sort|cast|to|join|cat|broadcast|clamp|advance|split|assume|item"
    r"|convert_layout|set_auto_layout|item|gather|interleave)$"
)
_FILLED = re.compile(r"^(zeros|full|empty)$")
_LOOPS = re.compile(r"^(range|static_range|grid)$")


class Library:
    """The functions of Triton whose effect follows from their names. Facts go to `notes`."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def call(
        self, node: ast.Call, name: str, values: list[Value], named: dict[str, Value], *, is_method: bool
    ) -> Value:
        """Return the value of a call of the function or method `name`.

        The `values` of a method begin with the value of its object.
        """
        first = values[0] if values else next(iter(named.values()), NOTHING)
        everything = [*values, *named.values()]
        for keyword in ("dtype", "out_dtype", "value_dtype"):
            if keyword in named:
                self._notes.note(named[keyword].atoms, "dtype", node)
        if "layout" in named:
            self._notes.note(named["layout"].atoms, "layout", node)
        if "mask" in named:
            self._notes.note(named["mask"].atoms, "condition", node)
        if _POINTS_TO.match(name):
            return self._descriptor(node, name, values, named)
        if _ACCESS.match(name) and (name not in ("gather",) or first.kind == "descriptor"):
            return self._access(node, name, values, named, is_method=is_method)
        if name in ("reduce", "associative_scan"):
            combine = named.get("combine_fn", values[2] if len(values) > 2 else NOTHING)
            self._notes.note(combine.atoms, "function", node)
            return first
        if name in ("dot", "dot_scaled", "warpgroup_mma", "wgmma", "mma_v2"):
            for operand in (
                *values[:2],
                *(named[key] for key in ("a", "b", "input", "other") if key in named),
            ):
                self._notes.note(loaded(operand), "dot", node)
            self._notes.usage.has_dot = True
            return Value("float")
        if name == "arange":
            for bound in values[1:2] or [named.get("end", NOTHING)]:
                self._notes.note_inputs(bound.inputs, "shape", node)
            for layout in values[2:3]:
                self._notes.note(layout.atoms, "layout", node)
            return INTEGER
        if _FILLED.match(name):
            shape = named.get("shape", first)
            self._notes.note_inputs(shape.inputs, "shape", node)
            for dtype in values[1:2] if name != "full" else values[2:3]:
                self._notes.note(dtype.atoms, "dtype", node)
            return NOTHING
        if name in ("to", "cast"):
            return self._cast(node, values, named)
        if name == "where":
            self._notes.note(first.atoms, "condition", node)
            return join(everything[1:])
        if _LOOPS.match(name):
            self._notes.note_inputs((atom for value in everything for atom in direct(value)), "integer", node)
            if name == "static_range":
                self._notes.note_inputs((atom for value in values for atom in value.inputs), "count", node)
            return INTEGER
        if _INTEGER_FUNCTION.match(name):
            self._notes.note((atom for value in everything for atom in value.atoms), "integer", node)
            return Value("integer", inputs=join(everything).inputs)
        if _RANDOM.match(name):
            self._notes.note((atom for value in everything for atom in value.atoms), "integer", node)
            return Value("integer" if "int" in name else "float")
        if _FLOAT_FUNCTION.match(name):
            self._notes.note((atom for value in everything for atom in value.atoms), "float", node)
            return Value("float", inputs=join(everything).inputs)
        if name in ("broadcast_to", "reshape", "view"):
            for shape in values[1:]:
                self._notes.note_inputs(shape.inputs, "shape", node)
            return first
        if _SAME.match(name):
            return replace(join(everything), items=()) if name in ("maximum", "minimum", "join") else first
        return Value(inputs=join(everything).inputs)

    def _descriptor(self, node: ast.Call, name: str, values: list[Value], named: dict[str, Value]) -> Value:
        parameters = (
            ("base", "shape", "strides", "offsets", "block_shape", "order")
            if name == "make_block_ptr"
            else ("base", "shape", "strides", "block_shape")
        )
        given = {**dict(zip(parameters, values, strict=False)), **named}
        base = given.get("base", NOTHING)
        self._address(node, base)
        for key in ("shape", "strides", "offsets"):
            for item in given.get(key, NOTHING).items:
                self._notes.note_inputs(item.inputs, "integer", node)
        self._notes.note_inputs(given.get("block_shape", NOTHING).inputs, "shape", node)
        return Value("descriptor", frozenset((atom,) for atom in self._pointers(base)), base.inputs)

    def _access(
        self, node: ast.Call, name: str, values: list[Value], named: dict[str, Value], *, is_method: bool
    ) -> Value:
        first = values[0] if values else named.get("pointer", named.get("ptr", NOTHING))
        rest = [*values[1:], *named.values()]
        if is_method and first.kind != "descriptor":
            offsets = values[1] if len(values) > 1 else NOTHING
            self._notes.note(first.atoms, "descriptor", node, len(offsets.items) or ...)
            pointers = first.atoms
            for offset in offsets.items:
                self._notes.note_inputs(offset.inputs, "integer", node)
        else:
            pointers = self._address(node, first)
        loaded = [Atom(atom.name, atom.depth + 1) for atom in pointers]
        if name == "store" or name.startswith("atomic") or is_method:
            stored = rest[-1] if is_method and rest else named.get("value", rest[0] if rest else NOTHING)
            if "cas" in name or name in ("atomic_and", "atomic_or", "atomic_xor"):
                self._notes.note(loaded, "integer", node)
            if stored.dtype:
                self._notes.note(loaded, "element", node, stored.dtype)
            elif stored.kind == "integer" and name != "load":
                self._notes.note(loaded, "near integer", node)
        if name == "load" and not is_method and len(values) > 1:
            self._notes.note(values[1].atoms, "condition", node)
        other = named.get("other", values[2] if name == "load" and len(values) > 2 else NOTHING)
        if other.kind == "float":
            self._notes.note(loaded, "float", node)
        return Value(sums=frozenset((atom,) for atom in loaded), inputs=frozenset(loaded))

    def _address(self, node: ast.Call, address: Value) -> list[Atom]:
        """Note which operands of an address are pointers and which are offsets. Return the pointers."""
        pointers = self._pointers(address)
        self._notes.note(pointers, "address", node)
        self._notes.note_inputs((atom for atom in address.inputs if atom not in pointers), "integer", node)
        return pointers

    def _pointers(self, address: Value) -> list[Atom]:
        """Return the summand of each alternative that is known as a pointer, or else its first summand."""
        found = []
        facts_of = self._notes.usage.of
        for alternative in sorted(address.sums, key=repr):
            known = [atom for atom in alternative if "address" in facts_of(atom.name, atom.depth)]
            free = [atom for atom in alternative if "integer" not in facts_of(atom.name, atom.depth)]
            found += (known or free or list(alternative))[:1]
        return list(dict.fromkeys(found))

    def _cast(self, node: ast.Call, values: list[Value], named: dict[str, Value]) -> Value:
        value = values[0] if values else NOTHING
        to = named.get("dtype", values[1] if len(values) > 1 else NOTHING)
        if to.atoms:
            self._notes.note(to.atoms, "dtype", node)
        if not isinstance(to.callee, tl.dtype):
            return replace(value, dtype="")
        elements = [atom for atom in value.atoms if atom.depth]
        if to.callee.is_ptr():
            self._notes.note(elements, "address", node)
            return value
        if to.callee.is_int():
            self._notes.note(elements, "near integer", node)
            return replace(value, kind="integer", dtype=_type_name(to.callee))
        if to.callee.name == "fp32":
            self._notes.note(elements, "widened", node)
        return replace(value, kind="float", dtype=_type_name(to.callee))


def _type_name(dtype: Any) -> str:
    """Return the name of an element type in signatures: "fp16", "i32"."""
    return re.sub(r"^(u?)int", lambda found: found[1] or "i", str(dtype))
