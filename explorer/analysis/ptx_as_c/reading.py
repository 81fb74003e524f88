"""Operands of PTX as values of C: variables, vectors, pointers, and the replacements of registers.

Arguments, special registers, numbers and copies are written wherever they are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from explorer.analysis.ptx_as_c.operations import special
from explorer.analysis.ptx_as_c.pointers import ELEMENT_BYTES, index_of
from explorer.analysis.ptx_as_c.registers import Registers, types_of
from explorer.analysis.ptx_as_c.statements import Operand, Statement
from explorer.analysis.ptx_as_c.values import (
    CHOICE,
    EITHER,
    EQUALITY,
    PRODUCT,
    SIZES,
    SUM,
    UNARY,
    Value,
    binary,
    cast,
    combined,
    converted,
    number_of,
    opposite,
    within,
)

COMPONENTS = {2: "xy", 4: "xyzw", 8: tuple(f"s{place}" for place in range(8))}
VECTORS = {
    "float": "float",
    "int32_t": "int",
    "uint32_t": "uint",
    "int16_t": "short",
    "uint16_t": "ushort",
    "int64_t": "longlong",
    "uint64_t": "ulonglong",
    "double": "double",
    "int8_t": "char",
    "uint8_t": "uchar",
}


@dataclass
class Reading:
    """The reader of the operands of a function: the value that replaces each register.

    `names` are the names of registers in C, `parameters` the names and types of the kernel's parameters by
    symbol, and `pointers` the types that registers point to.
    """

    registers: Registers
    names: Mapping[str, str]
    parameters: Mapping[str, tuple[str, str]]
    pointers: Mapping[str, str]
    statements: list[list[Statement]]

    def __post_init__(self) -> None:
        every = [each for block in self.statements for each in block]
        self._writers = {
            name: each for each in every for name in each.writes if self.registers.writes[name] == 1
        }
        self._vectors = self._find_vectors(every)
        self._everywhere: dict[str, Value] = {}
        self._find_values_of_everywhere(every)
        self._read_in = self._readers()
        self._pending: dict[str, Value] = {}
        # What the instruction that is being written has read.
        self._taken: dict[str, Value] = {}

    # Decisions before anything is written.

    def _find_vectors(self, every: Iterable[Statement]) -> dict[str, tuple[str, str, str]]:
        """Return the variable, its type and the component for each register that a vector access fills."""
        filled: dict[str, list[Statement]] = {}
        moved: dict[str, int] = {}
        for statement in every:
            if is_load(statement) and statement.operands[0].kind == "vector":
                for name in statement.writes:
                    filled.setdefault(name, []).append(statement)
            elif statement.name == "mov" and len(statement.writes) == 1 and not statement.guard:
                moved[statement.writes[0]] = moved.get(statement.writes[0], 0) + 1
        found = {}
        for statement in {id(each): each for loads in filled.values() for each in loads}.values():
            members = statement.operands[0].parts
            components = COMPONENTS.get(len(members))
            kinds = {self.registers.types.get(each.text, "") for each in members}
            is_whole = all(
                each.kind == "register"
                and len(filled[each.text]) == 1
                and self.registers.writes[each.text] == 1 + moved.get(each.text, 0)
                for each in members
            )
            if (
                components is None
                or len(kinds) != 1
                or not is_whole
                or len({m.text for m in members}) < len(members)
            ):
                continue
            kind = VECTORS.get(next(iter(kinds)))
            if kind is None:
                continue
            first = self.names[members[0].text]
            variable = first if not re.fullmatch(r"[a-z]+\d+", first) else f"v_{first}"
            for member, component in zip(members, components, strict=True):
                found[member.text] = (variable, f"{kind}{len(members)}", component)
        return found

    def _find_values_of_everywhere(self, every: Iterable[Statement]) -> None:
        """Find the values that are written wherever their register is read."""
        for statement in every:
            if len(statement.writes) != 1 or statement.guard or statement.writes[0] not in self._writers:
                continue
            register = statement.writes[0]
            if register in self._vectors or statement.operands[0].kind != "register":
                continue
            value = self._value_of_everywhere(statement)
            if value is not None:
                wanted = self.registers.types[register]
                value = self._held(value, wanted)
                lines = value.lines | {statement.line}
                self._everywhere[register] = replace(value, lines=lines, depth=min(value.depth, 1))

    def _held(self, value: Value, kind: str) -> Value:
        """Return a value that takes the place of a register; only the size of an integer matters."""
        is_alike = are_integers(value.type, kind) and SIZES[value.type] == SIZES[kind]
        return value if value.number or value.is_pointer or is_alike else converted(value, kind)

    def _value_of_everywhere(self, statement: Statement) -> Value | None:
        operands, words = statement.operands, statement.words
        if words[:2] == ("ld", "param"):
            return self._parameter(statement)
        is_copy = statement.name == "mov" or statement.opcode in ("cvta.to.global.u64", "cvta.global.u64")
        if not is_copy or len(operands) != 2:
            return None
        source = operands[1]
        if source.kind == "number":
            return Value(source.text, "int32_t", number=source.text)
        if source.kind == "symbol":
            return special(source.text) or self._symbol(source.text)
        if source.kind == "register" and source.text in self._everywhere:
            return self._everywhere[source.text]
        return None

    def _parameter(self, statement: Statement) -> Value | None:
        address = statement.operands[1]
        if address.kind != "address" or not address.parts or statement.operands[0].kind != "register":
            return None
        name, kind = self.parameters.get(address.parts[0].text, ("", ""))
        if not name or address.offset:
            return None
        value = Value(name, kind)
        read = (types_of(statement) or ["b32"])[-1]
        size = self.registers.types[statement.writes[0]]
        if kind.endswith("*") or read in ("f32", "f64") or kind in ("float", "double"):
            return value
        if SIZES.get(kind) == SIZES.get(size):
            return value
        signed = f"{'' if read[0] == 's' else 'u'}int{read[1:]}_t"
        return cast(cast(value, signed), f"{'' if read[0] == 's' else 'u'}{size.removeprefix('u')}")

    def _symbol(self, symbol: str) -> Value | None:
        if symbol in self.parameters:
            return Value(f"(uint32_t)&{self.parameters[symbol][0]}", "uint32_t", UNARY)
        if re.fullmatch(r"[A-Za-z_]\w*", symbol):
            return Value(f"(uint32_t){symbol}", "uint32_t", UNARY)
        return None

    def _readers(self) -> dict[str, set[int]]:
        readers: dict[str, set[int]] = {}
        for index, block in enumerate(self.statements):
            for statement in block:
                for name in statement.reads:
                    readers.setdefault(name, set()).add(index)
        return readers

    # Reading operands.

    def read(self, operand: Operand, kind: str) -> Value:
        """Return an operand as a value of a type of C; of "" as it is."""
        value = self._raw(operand)
        if kind == "bool" and operand.is_negated:
            return opposite(value)
        if value.is_pointer and kind:
            value = cast(value, "uint64_t")
        if value.number and not kind:
            kind = "int32_t"
        return converted(value, kind) if kind else value

    def _raw(self, operand: Operand) -> Value:
        if operand.kind == "number":
            return Value(operand.text, "int32_t", number=operand.text)
        if operand.kind == "symbol":
            return (
                special(operand.text)
                or self._symbol(operand.text)
                or Value(_identifier(operand.text), "uint32_t")
            )
        name = operand.text
        if name in self._everywhere:
            return self._everywhere[name]
        if name in self._pending:
            self._taken[name] = self._pending.pop(name)
        if name in self._taken:
            return self._taken[name]
        return self.variable(name)

    def variable(self, register: str) -> Value:
        """Return the variable of a register, or the component of one."""
        vector = self._vectors.get(register)
        if vector:
            return Value(
                f"{vector[0]}.{vector[2]}", self.registers.types[register], reads=frozenset({vector[0]})
            )
        name = self.names.get(register) or _identifier(register)
        return Value(name, self.type_of(register), reads=frozenset({name}))

    def type_of(self, register: str) -> str:
        pointer = self.pointers.get(register)
        return f"{pointer} *" if pointer else self.registers.types.get(register, "uint32_t")

    def condition(self, text: str) -> Value:
        """Return the predicate of a jump, which may have "!" before it, or is an index of a table."""
        self._taken = {}
        register, is_index, place = text.lstrip("!").partition("==")
        operand = Operand("register", register, is_negated=text.startswith("!"))
        if is_index:
            return binary("==", "bool", EQUALITY, self.variable(register), Value(place, "int32_t"))
        return self.read(operand, "bool")

    # Pointers.

    def _pointer_result(self, statement: Statement) -> Value | None:
        register = statement.writes[0]
        kind = self.pointers.get(register)
        if kind is None:
            return None
        sources = statement.operands[1:]
        if statement.opcode in ("add.s64", "add.u64"):
            one, other = sources
            if not (one.kind == "register" and self._points(one)):
                one, other = other, one
            return self._advanced(self._raw(one), other, kind)
        if statement.name == "mad":
            return self._multiplied(statement, kind)
        if statement.name == "selp":
            first, second = (self._as_pointer(self._raw(each), kind) for each in sources[:2])
            condition = self.read(sources[2], "bool")
            text = f"{within(condition, EITHER)} ? {within(first, EITHER)} : {within(second, EITHER)}"
            return combined(text, f"{kind} *", CHOICE, condition, first, second)
        return self._as_pointer(self._raw(sources[0]), kind) if sources[0].kind == "register" else None

    def _multiplied(self, statement: Statement, kind: str) -> Value:
        """Return a pointer plus a product."""
        size = ELEMENT_BYTES[kind]
        found = index_of(statement, size)
        if found is None:
            kind_of_product = "int64_t" if statement.words[-1] == "s32" else "uint64_t"
            narrow = kind_of_product.replace("64", "32")
            one, other = (self.read(each, narrow) for each in statement.operands[1:3])
            index = binary("*", kind_of_product, PRODUCT, cast(one, kind_of_product), other)
            pointer = cast(self._as_pointer(self._raw(statement.operands[3]), kind), "char *")
            return cast(binary("+", "char *", SUM, pointer, index), f"{kind} *")
        operand, widened, factor = found
        index = self.read(operand, widened)
        if factor != 1:
            index = binary("*", widened, PRODUCT, cast(index, "int64_t"), Value(str(factor), "int64_t"))
        pointer = self._as_pointer(self._raw(statement.operands[3]), kind)
        return binary("+", f"{kind} *", SUM, pointer, index)

    def _points(self, operand: Operand) -> bool:
        value = self._everywhere.get(operand.text)
        return operand.text in self.pointers or bool(value and value.is_pointer)

    def _as_pointer(self, value: Value, kind: str) -> Value:
        return value if value.type == f"{kind} *" else cast(value, f"{kind} *")

    def _advanced(self, pointer: Value, offset: Operand, kind: str) -> Value:
        """Return a pointer plus an offset in bytes, in elements where it is known to be a multiple."""
        size = ELEMENT_BYTES[kind]
        pointer = self._as_pointer(pointer, kind)
        if offset.kind == "number" and number_of(offset.text) % size == 0:
            index: Value | None = Value(str(int(number_of(offset.text)) // size), "int64_t")
        else:
            index = self._index(offset, size)
        if index is not None:
            text = _minus(index)
            if text:
                return combined(f"{within(pointer, SUM)} - {text}", f"{kind} *", SUM, pointer, index)
            return binary("+", f"{kind} *", SUM, pointer, index)
        if size == 1:
            return binary("+", f"{kind} *", SUM, pointer, self.read(offset, "any64"))
        sum_of = binary("+", "char *", SUM, cast(pointer, "char *"), self.read(offset, "any64"))
        return cast(sum_of, f"{kind} *")

    def _index(self, offset: Operand, size: int) -> Value | None:
        writer = self._writers.get(offset.text) if offset.kind == "register" else None
        if writer is None or writer.guard:
            return None
        found = index_of(writer, size)
        if found is None:
            return None
        operand, kind, factor = found
        pending = self._pending.get(offset.text)
        if pending is None and (operand.text not in self._writers or not self._is_variable(operand.text)):
            return None
        if pending is not None:
            # The whole offset is pending: its operand was taken from there.
            return self._pending_index(self._pending.pop(offset.text), kind, factor, size)
        value = cast(self.read(operand, ""), kind)
        value = replace(value, lines=value.lines | {writer.line})
        return (
            value
            if factor == 1
            else binary("*", kind, PRODUCT, cast(value, "int64_t"), Value(str(factor), "int64_t"))
        )

    def _pending_index(self, value: Value, kind: str, factor: int, size: int) -> Value:
        shift = re.fullmatch(r"(.+) << \d+", value.text)
        scaled = shift or re.fullmatch(rf"\(u?int64_t\)(.+) \* {factor * size}", value.text)
        if scaled and is_closed(scaled[1]):
            made = replace(value, text=scaled[1], type=kind, binds=UNARY)
            return (
                made
                if factor == 1
                else binary("*", kind, PRODUCT, cast(made, "int64_t"), Value(str(factor), "int64_t"))
            )
        quotient = binary("/", "int64_t", PRODUCT, cast(value, "int64_t"), Value(str(size), "int64_t"))
        return replace(quotient, depth=value.depth)

    def _is_variable(self, register: str) -> bool:
        """Return whether a register is a variable, or has a value that is written wherever it is read."""
        return register in self._everywhere or (
            register not in self._pending and not self._is_folded(register)
        )

    def _is_folded(self, register: str) -> bool:
        return self.registers.reads[register] == 1 and self.registers.writes[register] == 1


def are_integers(one: str, other: str) -> bool:
    """Return whether two types are integers."""
    return all(kind in SIZES and kind not in ("float", "double", "bool") for kind in (one, other))


def is_load(statement: Statement) -> bool:
    """Return whether an instruction loads from memory."""
    return statement.name == "ld" and statement.words[1:2] != ("param",)


def _minus(index: Value) -> str:
    return index.text[1:] if re.fullmatch(r"-\d+", index.text) else ""


def is_closed(text: str) -> bool:
    """Return whether parentheses are balanced, and nothing outside of them is an operator."""
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0 or (depth == 0 and character == " "):
            return False
    return depth == 0


def _identifier(text: str) -> str:
    return re.sub(r"\W", "_", text)
