"""Expressions of C: their types, how tightly they bind, and literals."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass, replace

#: How tightly operators of C bind; a primary expression binds most.
PRIMARY, UNARY, PRODUCT, SUM, SHIFT, ORDER, EQUALITY = 16, 14, 13, 12, 11, 10, 9
AND, XOR, OR, BOTH, EITHER, CHOICE = 8, 7, 6, 5, 4, 3
SIZES = {
    "bool": 1,
    "int16_t": 16,
    "uint16_t": 16,
    "int32_t": 32,
    "uint32_t": 32,
    "float": 32,
    "int64_t": 64,
    "uint64_t": 64,
    "double": 64,
}
_BITWISE = (AND, XOR, OR, SHIFT)
_INTEGERS = {16: "uint16_t", 32: "uint32_t", 64: "uint64_t"}


@dataclass(frozen=True)
class Value:
    """An expression of C.

    `type` is its type; a pointer ends with `*`. `number` is its value if it is a number of PTX, which has no
    type of its own. `inverse` is the text of the opposite of a comparison. `lines` are the lines of PTX
    that it was made from, and `reads` the registers that are written more than once. `depth` counts the
    operations that are folded into each other.
    """

    text: str
    type: str
    binds: int = PRIMARY
    lines: frozenset[int] = frozenset()
    reads: frozenset[str] = frozenset()
    depth: int = 0
    number: str = ""
    inverse: str = ""

    @property
    def is_pointer(self) -> bool:
        return self.type.endswith("*")


def within(value: Value, binds: int, is_right: bool = False) -> str:
    """Return the text as an operand of an operator, in parentheses if the operator or a reader needs them."""
    mixes_bits = (binds in _BITWISE or value.binds in _BITWISE) and value.binds != binds
    if value.binds < binds or (is_right and value.binds == binds) or (mixes_bits and value.binds < UNARY):
        return f"({value.text})"
    return value.text


def combined(text: str, kind: str, binds: int, *parts: Value) -> Value:
    """Return an expression that combines other expressions."""
    return Value(
        text,
        kind,
        binds,
        frozenset().union(*(part.lines for part in parts)),
        frozenset().union(*(part.reads for part in parts)),
        1 + max((part.depth for part in parts), default=0),
    )


def call(name: str, kind: str, *arguments: Value) -> Value:
    return combined(f"{name}({', '.join(each.text for each in arguments)})", kind, PRIMARY, *arguments)


def binary(operator: str, kind: str, binds: int, one: Value, other: Value) -> Value:
    """Return an operation on two values. Adding a negative number is written as a subtraction."""
    if operator == "+" and re.fullmatch(r"-\d+", other.text) and not one.is_pointer:
        operator, other = "-", replace(other, text=other.text[1:])
    # The order of additions matters to floats.
    is_free = operator in "&|^" or (operator in "+*" and kind not in ("float", "double"))
    text = f"{within(one, binds)} {operator} {within(other, binds, not is_free)}"
    return combined(text, kind, binds, one, other)


def unary(operator: str, kind: str, one: Value) -> Value:
    """Return a prefix operation."""
    inside = within(one, UNARY)
    return combined(f"{operator}{f'({inside})' if inside.startswith('-') else inside}", kind, UNARY, one)


def opposite(value: Value) -> Value:
    if value.inverse:
        return replace(value, text=value.inverse, inverse=value.text)
    return unary("!", "bool", value)


def cast(value: Value, kind: str) -> Value:
    """Return the value converted to another type, as C converts it."""
    if value.type == kind and not value.number:
        return value
    if value.number and kind in SIZES:
        return converted(value, kind)
    inside = within(value, UNARY)
    return replace(combined(f"({kind}){inside}", kind, UNARY, value), depth=value.depth)


def converted(value: Value, kind: str) -> Value:
    """Return the same bits as a value of another type; for integers the low bits.

    `kind` is a type of C, or "any16", "any32" or "any64": an integer of that size, with or without sign.
    """
    if value.number:
        return replace(value, text=literal(value.number, kind), type=_settled(kind), number="")
    if kind.startswith("any"):
        size = int(kind[3:])
        if value.type in SIZES and SIZES[value.type] == size and value.type not in ("float", "double"):
            return value
        kind = _INTEGERS[size]
    if value.type == kind:
        return value
    if value.type == "float":
        return cast(call("__float_as_uint", "uint32_t", value), kind)
    if value.type == "double":
        return cast(call("__double_as_longlong", "int64_t", value), kind)
    if kind == "float":
        return call("__uint_as_float", "float", value)
    if kind == "double":
        return call("__longlong_as_double", "double", value)
    return cast(value, kind)


def _settled(kind: str) -> str:
    # An integer literal takes the type of the other operand: an unsigned literal would change that type.
    return f"int{kind[3:]}_t" if kind.startswith("any") else kind


def number_of(text: str) -> int | float:
    """Return the value of a number of PTX: an integer, or a float written as its bits."""
    prefix = text[:2].lower()
    if prefix in ("0f", "0d"):
        kind, length = (">f", 8) if prefix == "0f" else (">d", 16)
        if not re.fullmatch(rf"[0-9a-fA-F]{{1,{length}}}", text[2:]):
            return 0
        return float(struct.unpack(kind, bytes.fromhex(text[2:].rjust(length, "0")))[0])
    digits = text.rstrip("U")
    try:
        return int(digits, 0)
    except ValueError:
        return float(digits) if re.fullmatch(r"[+-]?[\d.]{1,30}(?:[eE][+-]?\d{1,4})?", digits) else 0


def bits_of(text: str, size: int) -> int:
    """Return the bits of a number of PTX in a register of a size."""
    number = number_of(text)
    if isinstance(number, float):
        data = struct.pack(">d", number) if text[:2] in ("0d", "0D") else _single(number)
        number = int.from_bytes(data, "big")
    return number & ((1 << size) - 1)


def _single(number: float) -> bytes:
    try:
        return struct.pack(">f", number)
    except OverflowError:
        return struct.pack(">f", math.inf if number > 0 else -math.inf)


def literal(text: str, kind: str) -> str:
    """Write a number of PTX as a literal of a type, with the same bits."""
    if kind == "bool":
        return "true" if number_of(text) else "false"
    size = int(kind[3:]) if kind.startswith("any") else SIZES.get(kind, 64)
    bits = bits_of(text, size)
    if kind == "float":
        return _float_literal(bits)
    if kind == "double":
        return _double_literal(bits)
    signed = bits - (1 << size) if bits >> (size - 1) else bits
    if kind.startswith("uint"):
        is_mask = bits > 0xFFFF
        suffix = "u" if size == 32 else "ull" if size == 64 else ""
        return f"0x{bits:x}{suffix}" if is_mask and bits > 0x7FFFFFFF else str(bits)
    if signed == -(1 << (size - 1)) and size >= 32:
        return f"INT{size}_MIN"
    is_long = size == 64 and not -(1 << 31) < signed < 1 << 31
    return f"{signed}ll" if is_long else str(signed)


def _float_literal(bits: int) -> str:
    data = bits.to_bytes(4, "big")
    value = struct.unpack(">f", data)[0]
    if math.isnan(value):
        return f"__uint_as_float(0x{bits:08x}u)"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    for digits in range(1, 10):
        short = f"{value:.{digits}g}"
        if _single(float(short)) == data:
            return f"{_decimal(short)}f"
    return f"{_decimal(repr(value))}f"


def _double_literal(bits: int) -> str:
    value = struct.unpack(">d", bits.to_bytes(8, "big"))[0]
    if math.isnan(value):
        return f"__longlong_as_double(0x{bits:016x}ll)"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return _decimal(repr(value))


def _decimal(text: str) -> str:
    plain = repr(float(text)) if "e" in text and abs(float(text)) < 1e7 and abs(float(text)) >= 1e-4 else text
    return plain if "." in plain or "e" in plain else f"{plain}.0"
