"""The instructions of basic blocks as statements of C.

A value that is read once, and in its own block, becomes a part of the expression that reads it, up to a
depth. Arguments, special registers, numbers and copies are written where they are read. Everything else is a
variable, named after its register.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from explorer.analysis.ptx_as_c.operations import c_type, intrinsic_name, operation
from explorer.analysis.ptx_as_c.pointers import ELEMENT_BYTES
from explorer.analysis.ptx_as_c.reading import COMPONENTS, VECTORS, Reading, are_integers, is_closed, is_load
from explorer.analysis.ptx_as_c.registers import operand_types, types_of
from explorer.analysis.ptx_as_c.statements import Operand, Statement
from explorer.analysis.ptx_as_c.values import (
    OR,
    PRIMARY,
    SHIFT,
    SIZES,
    SUM,
    UNARY,
    Value,
    binary,
    call,
    cast,
    combined,
    converted,
    within,
)

_MOST_DEPTH = 4
_MOST_CHARACTERS = 70
_SPACES = {
    "global": "",
    "shared": "shared ",
    "shared_cta": "shared ",
    "local": "local ",
    "const": "constant ",
}
#: Words of loads and stores that C has no word for and that change nothing else.
_PLAIN_WORDS = {"v2", "v4", "v8"}
#: Instructions that are written as calls with their names; their operands are passed as they are.
_CALLS_WORDS = (
    "cp mbarrier wgmma mma ldmatrix stmatrix tcgen05 fence membar tensormap elect griddepcontrol "
    "setmaxnreg nanosleep prefetch prefetchu createpolicy red atom vote match redux activemask "
    "barrier bar mapa discard applypriority clusterlaunchcontrol multimem getctarank isspacep ld st "
    "shfl setp cvt pmevent add sub"
)
_CALLS = frozenset(_CALLS_WORDS.split())


@dataclass
class Written:
    """A statement of C. `variable` is what it writes, if it is an assignment that may declare it.

    `component` and `value` describe an assignment to a component of a vector.
    """

    text: str
    lines: frozenset[int]
    uses: frozenset[str] = frozenset()
    variable: str = ""
    type: str = ""
    guard: str = ""
    guard_text: str = ""
    component: str = ""
    value: Value | None = None
    has_effect: bool = True


class Body(Reading):
    """The writer of the instructions of a function, block by block."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.verbatim: dict[int, str] = {}
        self._written: list[Written] = []

    # Writing statements.

    def write(self, block: int) -> list[Written]:
        """Return the statements of a block. Values for the jump at its end stay pending, for `condition`."""
        self._written = []
        self._pending = {}
        for statement in self.statements[block]:
            if statement.name in ("bra", "brx", "ret", "exit", "trap"):
                continue
            count = len(self._written)
            try:
                self._statement(statement, block)
            except (AssertionError, IndexError, KeyError, ValueError):
                # Operands of another form than LLVM writes.
                del self._written[count:]
                self._leave(statement)
        return _vectors_at_once(self._written)

    def _statement(self, statement: Statement, block: int) -> None:
        if len(statement.writes) == 1 and statement.writes[0] in self._everywhere:
            return
        self._taken = {}
        self._flush_for(statement)
        if statement.name == "mov" and any(each.kind == "vector" for each in statement.operands):
            if self._pack(statement, block):
                return
        elif len(statement.writes) == 1 and statement.operands[0].kind == "register":
            value = self._result(statement)
            if value is not None:
                self._assign(statement, statement.writes[0], value, block)
                if self._written and statement.name != "shfl":
                    self._written[-1].has_effect &= statement.line not in self._written[-1].lines
                return
        if is_load(statement) and self._load(statement):
            return
        if statement.name == "st" and self._store(statement):
            return
        self._call(statement)

    def _flush_for(self, statement: Statement) -> None:
        """Write pending values that read what the statement writes."""
        written = {self.variable(name).text.split(".")[0] for name in statement.writes if name in self.names}
        for register in [name for name, value in self._pending.items() if value.reads & written]:
            self._store_value(register, self._pending.pop(register), "", frozenset())

    def _result(self, statement: Statement) -> Value | None:
        pointer = self._pointer_result(statement)
        if pointer is not None:
            return pointer
        if statement.name == "mov":
            source = statement.operands[1]
            return self._raw(source) if source.kind in ("register", "number", "symbol") else None
        if statement.name in ("ld", "atom"):
            return None
        return operation(statement, self.read)

    def _assign(self, statement: Statement, register: str, value: Value, block: int) -> None:
        value = replace(value, lines=value.lines | {statement.line})
        is_single = (
            self._is_folded(register)
            and not statement.guard
            and register not in self._vectors
            and self._read_in.get(register) == {block}
            and value.depth <= _MOST_DEPTH
            and len(value.text) <= _MOST_CHARACTERS
            and self._is_unnamed_or_continued(register)
            and statement.name != "shfl"
        )
        if is_single and not value.number:
            self._pending[register] = self._held(value, self.type_of(register))
            return
        self._store_value(register, value, statement.guard, value.lines, statement.is_guard_negated)

    def _is_unnamed_or_continued(self, register: str) -> bool:
        """Return whether folding a value into its reader loses no name of the source."""
        name = self.names[register].rsplit("_", 1)
        return len(name) == 1 or name[0] in self.continued.get(register, ())

    @property
    def continued(self) -> Mapping[str, set[str]]:
        """The names of the values that read a register, by register."""
        if not hasattr(self, "_continued"):
            found: dict[str, set[str]] = {}
            for block in self.statements:
                for statement in block:
                    for written in statement.writes:
                        name = self.names[written].rsplit("_", 1)
                        for read in statement.reads:
                            found.setdefault(read, set()).add(name[0] if len(name) == 2 else "")
            self._continued = found
        return self._continued

    def _store_value(
        self, register: str, value: Value, guard: str, lines: frozenset[int], is_negated: bool = False
    ) -> None:
        target = self.variable(register)
        # An assignment converts integers, as a cast would.
        if not (value.is_pointer and target.is_pointer) and not are_integers(value.type, target.type):
            value = converted(_plain(value), target.type)
        elif value.number:
            value = converted(value, target.type)
        vector = self._vectors.get(register)
        self._add(
            f"{target.text} = {value.text};",
            value.lines | lines,
            value.reads | ({vector[0]} if vector else frozenset()),
            variable="" if vector or guard else target.text,
            kind=vector[1] if vector else target.type,
            guard=guard,
            is_negated=is_negated,
            component=vector[2] if vector and not guard else "",
            value=value,
        )

    def _add(
        self,
        text: str,
        lines: frozenset[int],
        uses: frozenset[str],
        *,
        variable: str = "",
        kind: str = "",
        guard: str = "",
        is_negated: bool = False,
        component: str = "",
        value: Value | None = None,
    ) -> None:
        guard_text = ""
        if guard:
            condition = self.read(Operand("register", guard, is_negated=is_negated), "bool")
            guard_text, uses, lines = condition.text, uses | condition.reads, lines | condition.lines
        self._written.append(Written(text, lines, uses, variable, kind, guard, guard_text, component, value))

    def _pack(self, statement: Statement, block: int) -> bool:
        """Write a `mov` that puts registers together, or takes one apart."""
        target, source = statement.operands
        size = int(re.sub(r"\D", "", types_of(statement)[-1]) or 0)
        if size not in (32, 64):
            return False
        kind = f"uint{size}_t"
        if source.kind == "vector":
            part = size // len(source.parts)
            values = [cast(self.read(each, f"uint{part}_t"), kind) for each in source.parts]
            made = values[0]
            for place, value in enumerate(values[1:], 1):
                shifted = binary("<<", kind, SHIFT, value, Value(str(place * part), "uint32_t"))
                made = binary("|", kind, OR, made, shifted)
            self._assign(statement, target.text, made, block)
            return True
        part = size // len(target.parts)
        value = _plain(self.read(source, kind))
        for place, each in enumerate(target.parts):
            if each.kind == "register":
                shifted = (
                    binary(">>", kind, SHIFT, value, Value(str(place * part), "uint32_t")) if place else value
                )
                taken = replace(cast(shifted, f"uint{part}_t"), lines=value.lines | {statement.line})
                self._store_value(each.text, taken, statement.guard, taken.lines, statement.is_guard_negated)
        return True

    # Memory.

    def _access(self, statement: Statement) -> str | None:
        """Return the qualifier of the address space; None if C has no word for a property of the access."""
        spaces = [word for word in statement.words[1:-1] if word in _SPACES]
        others = set(statement.words[1:-1]) - set(_SPACES) - _PLAIN_WORDS
        if others or len(spaces) > 1 or not types_of(statement):
            return None
        return _SPACES[spaces[0]] if spaces else ""

    def _load(self, statement: Statement) -> bool:
        space = self._access(statement)
        if space is None or len(statement.operands) != 2 or statement.operands[1].kind != "address":
            return False
        target = statement.operands[0]
        parts = target.parts if target.kind == "vector" else (target,)
        if not all(each.kind == "register" for each in parts):
            return False
        kind = self._element(statement, parts)
        lines = frozenset({statement.line})
        if len(parts) == 1:
            value = self._element_at(statement.operands[1], kind, space)
            value = replace(value, lines=value.lines | lines)
            register = parts[0].text
            self._store_value(register, value, statement.guard, value.lines, statement.is_guard_negated)
            return True
        vector = self._vectors.get(parts[0].text)
        name = f"{VECTORS[kind]}{len(parts)}"
        value = self._element_at(statement.operands[1], vector[1] if vector else name, space)
        if vector:
            self._add(
                f"{vector[0]} = {value.text};",
                value.lines | lines,
                value.reads | {vector[0]},
                variable="" if statement.guard else vector[0],
                kind=vector[1],
                guard=statement.guard,
                is_negated=statement.is_guard_negated,
            )
            return True
        pieces, uses = [f"{name} loaded = {value.text};"], set(value.reads)
        for each, component in zip(parts, COMPONENTS[len(parts)], strict=True):
            goal = self.variable(each.text)
            pieces.append(f"{goal.text} = {converted(Value(f'loaded.{component}', kind), goal.type).text};")
            uses |= goal.reads
        self._add(
            f"{{ {' '.join(pieces)} }}",
            value.lines | lines,
            frozenset(uses),
            guard=statement.guard,
            is_negated=statement.is_guard_negated,
        )
        return True

    def _element(self, statement: Statement, parts: tuple[Operand, ...]) -> str:
        """Return the type of an element that is loaded or stored."""
        word = types_of(statement)[-1]
        size = re.sub(r"\D", "", word)
        if size == "8":
            return "int8_t" if word[0] == "s" else "uint8_t"
        kinds = {self.registers.types.get(each.text, "") for each in parts if each.kind == "register"}
        if len(kinds) == 1 and SIZES.get(kind := next(iter(kinds))) == int(size):
            return f"{'' if word[0] == 's' else 'u'}int{size}_t" if word[0] in "su" else kind
        return f"{'int' if word[0] == 's' else 'uint'}{size}_t"

    def _element_at(self, address: Operand, kind: str, space: str) -> Value:
        """Return the value at an address, as a type."""
        base, *rest = address.parts
        assert not rest
        is_pointer = base.kind == "register" and self._points(base)
        if is_pointer and not space:
            raw = self._raw(base)
            own = raw.type.removesuffix("*").strip()
            size = ELEMENT_BYTES.get(own, 1)
            if address.offset % size:
                raw, own, size = cast(raw, "char *"), "char", 1
            place = address.offset // size
            if own == kind and raw.binds == PRIMARY:
                return combined(f"{raw.text}[{place}]", kind, PRIMARY, raw)
            if place:
                operator, count = ("-", -place) if place < 0 else ("+", place)
                raw = combined(f"{within(raw, SUM)} {operator} {count}", raw.type, SUM, raw)
            indexed = re.fullmatch(r"(\w+) \+ (.+)", raw.text)
            if own == kind and indexed and (is_closed(indexed[2]) or indexed[2].isidentifier()):
                return replace(raw, text=f"{indexed[1]}[{indexed[2]}]", type=kind, binds=PRIMARY)
            where = raw if own == kind else cast(raw, f"{kind} *")
        else:
            raw = self.read(base, "")
            if raw.is_pointer:
                raw = cast(raw, "uint64_t")
            if address.offset:
                raw = binary("+", raw.type, SUM, raw, Value(str(address.offset), "int32_t"))
            where = cast(raw, f"{space}{kind} *")
        return combined(f"*{within(where, UNARY)}", kind, UNARY, where)

    def _store(self, statement: Statement) -> bool:
        space = self._access(statement)
        if space is None or len(statement.operands) != 2 or statement.operands[0].kind != "address":
            return False
        source = statement.operands[1]
        parts = source.parts if source.kind == "vector" else (source,)
        if any(each.kind not in ("register", "number", "symbol") for each in parts):
            return False
        kind = self._element(statement, parts)
        if len(parts) == 1:
            value = converted(_sized(self.read(parts[0], ""), kind, parts[0]), kind)
            where = self._element_at(statement.operands[0], kind, space)
        else:
            name = f"{VECTORS[kind]}{len(parts)}"
            value = self._whole(parts, name) or call(
                f"make_{name}", name, *(self.read(each, kind) for each in parts)
            )
            where = self._element_at(statement.operands[0], name, space)
        self._add(
            f"{where.text} = {value.text};",
            where.lines | value.lines | {statement.line},
            where.reads | value.reads,
            guard=statement.guard,
            is_negated=statement.is_guard_negated,
        )
        return True

    def _whole(self, parts: tuple[Operand, ...], kind: str) -> Value | None:
        """Return a vector whose components are stored in their order."""
        found = [self._vectors.get(each.text, ("", "", "")) for each in parts]
        components = tuple(each[2] for each in found)
        is_one = len({each[:2] for each in found}) == 1 and found[0][1] == kind
        if is_one and components == tuple(COMPONENTS[len(parts)]):
            return Value(found[0][0], kind, reads=frozenset({found[0][0]}))
        return None

    # Everything else.

    def _call(self, statement: Statement) -> None:
        """Write an instruction as a call with its name, or as it is."""
        lines = frozenset({statement.line})
        written = set(statement.writes)
        if statement.name not in _CALLS or any(each.kind == "symbol" for each in _flat(statement.operands)):
            self._leave(statement)
            return
        known = {"bar.sync": "__syncthreads", "barrier.sync": "__syncthreads", "bar.warp.sync": "__syncwarp"}
        name = known.get(statement.opcode.replace(".aligned", ""), "")
        operands = statement.operands
        if name == "__syncthreads":
            name = name if len(operands) == 1 and operands[0].text == "0" else "barrier_sync"
            operands = () if name == "__syncthreads" else operands
        kinds = operand_types(statement)
        result = operands[0] if operands and statement.writes else None
        is_assignment = result is not None and result.kind == "register" and statement.name != "wgmma"
        arguments: list[Value] = []
        for place, operand in enumerate(operands):
            if place == 0 and is_assignment:
                continue
            kind = c_type(kinds[place]) if place < len(kinds) and kinds[place] else ""
            for each in _flat((operand,)):
                if place == 0 and each.text in written:
                    variable = self.variable(each.text)
                    arguments.append(combined(f"&{variable.text}", "", PRIMARY, variable))
                else:
                    arguments.append(self._argument(each, kind))
        made = call(name or intrinsic_name(statement), self._returned(statement), *arguments)
        made = replace(made, lines=made.lines | lines)
        if is_assignment:
            self._store_value(
                statement.writes[0], made, statement.guard, made.lines, statement.is_guard_negated
            )
            return
        self._add(
            f"{made.text};",
            made.lines,
            made.reads,
            guard=statement.guard,
            is_negated=statement.is_guard_negated,
        )

    def _leave(self, statement: Statement) -> None:
        """Write an instruction as it is, with the variables that it names."""
        lines, uses = frozenset({statement.line}), frozenset[str]()
        for name in statement.reads:
            value = self.read(Operand("register", name), "")
            lines, uses = lines | value.lines, uses | value.reads
            if not re.fullmatch(r"\w+(\.\w+)?", value.text) or value.text != self.variable(name).text:
                self._keep(name, value)
        self.verbatim[statement.line] = statement.opcode
        text = f'asm("{statement.text};");'.replace("\\", "")
        for name in (*statement.writes, *statement.reads):
            uses |= self.variable(name).reads
        self._written.append(Written(text, lines, uses))

    def _keep(self, register: str, value: Value) -> None:
        """Declare a variable for a register, because the text of an instruction names it."""
        self._everywhere.pop(register, None)
        self._store_value(register, value, "", value.lines)

    def _returned(self, statement: Statement) -> str:
        return self.type_of(statement.writes[0]) if statement.writes else "void"

    def _argument(self, operand: Operand, kind: str) -> Value:
        if operand.kind == "none":
            return Value("NULL", "void *")
        if operand.kind == "address":
            base = self.read(operand.parts[0], "") if operand.parts else Value("0", "int32_t")
            if not operand.offset:
                return base
            if base.is_pointer:
                return self._advanced(base, Operand("number", str(operand.offset)), base.type[:-1].strip())
            return binary("+", base.type, SUM, base, Value(str(operand.offset), "int32_t"))
        return self.read(operand, kind if operand.kind != "symbol" else "")


def _flat(operands: Iterable[Operand]) -> list[Operand]:
    """Return operands without the braces around them. Coordinates follow the base of their address."""
    found: list[Operand] = []
    for operand in operands:
        if operand.kind in ("vector", "pair"):
            found.extend(_flat(operand.parts))
        elif operand.kind == "address":
            found.append(replace(operand, parts=operand.parts[:1]))
            found.extend(_flat(operand.parts[1:]))
        else:
            found.append(operand)
    return found


def _sized(value: Value, kind: str, operand: Operand) -> Value:
    """Return a number without its type."""
    return Value(operand.text, kind, number=operand.text) if operand.kind == "number" else _plain(value)


def _plain(value: Value) -> Value:
    return cast(value, "uint64_t") if value.is_pointer else value


def _vectors_at_once(written: list[Written]) -> list[Written]:
    """Join consecutive assignments to all components of a vector."""
    result: list[Written] = []
    index = 0
    while index < len(written):
        first = written[index]
        variable = first.text.split(".", 1)[0] if first.component else ""
        group = written[index : index + int(first.type[-1])] if variable else []
        components = [each.component for each in group if each.text.startswith(f"{variable}.")]
        if group and components == list(COMPONENTS[int(first.type[-1])]):
            result.append(_joined(variable, group))
            index += len(group)
        else:
            result.append(first)
            index += 1
    return result


def _joined(variable: str, group: list[Written]) -> Written:
    values = [each.value for each in group if each.value is not None]
    kind = group[0].type
    made = call(f"make_{kind}", kind, *values)
    lines = frozenset().union(*(each.lines for each in group))
    return Written(f"{variable} = {made.text};", lines, made.reads | {variable}, variable, kind)
