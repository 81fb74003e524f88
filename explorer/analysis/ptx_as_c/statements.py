"""The statements of PTX: guard, opcode and operands, and the registers that each writes and reads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_STATEMENT = re.compile(r"(?:@(!?+)([%\w$]++)\s++)?+([a-z][\w.:]*+)\s*+(.*+)", re.DOTALL)
_REGISTER = re.compile(r"%(?:rd|rs|rh|rq|r|fd|f|p|h|b)\d++")
_DECLARATION = re.compile(r"\.reg\s++\.(\w++)\s++([^;<]++)(<)?+")
_PARTS = re.compile(r"[{}\[\],|]|[^{}\[\],|\s]++")

#: Opcodes whose first operand is written, besides those whose result is a value of their operands.
_WRITES_FIRST_WORDS = (
    "ld ldu ldmatrix mma atom elect redux vote match activemask createpolicy mapa getctarank "
    "isspacep istypep testp tensormap_size"
)
_WRITES_FIRST = frozenset(_WRITES_FIRST_WORDS.split())
_WRITES_NOTHING_WORDS = (
    "st stmatrix bar barrier bra brx ret exit trap brkpt cp fence membar nanosleep prefetch "
    "prefetchu red griddepcontrol setmaxnreg discard applypriority tensormap clusterlaunchcontrol "
    "call pmevent multimem mbarrier wgmma tcgen05"
)
_WRITES_NOTHING = frozenset(_WRITES_NOTHING_WORDS.split())
_WITHOUT_SOURCE = ("activemask", "createpolicy", "mbarrier", "barrier", "bar", "tcgen05", "multimem")
_WRITES_WITH = (
    "mbarrier.try_wait",
    "mbarrier.test_wait",
    "mbarrier.arrive",
    "mbarrier.pending_count",
    "tcgen05.ld",
    "wgmma.mma_async",
    "clusterlaunchcontrol.query",
    "multimem.ld_reduce",
    "barrier.cluster.red",
    "barrier.cta.red",
    "bar.red",
)


@dataclass(frozen=True)
class Operand:
    """An operand.

    `kind` is "register", "number", "symbol" or "none" (`_`), or that of a list of other operands. "vector":
    `{a, b}`; "address": `[base + offset]`, or a base with the coordinates of a tensor; "pair": `a|b`.
    """

    kind: str
    text: str = ""
    parts: tuple[Operand, ...] = ()
    offset: int = 0
    is_negated: bool = False

    def registers(self) -> list[str]:
        """Return the registers in it, in order."""
        found, waiting = [], [self]
        while waiting:
            operand = waiting.pop()
            if operand.kind == "register":
                found.append(operand.text)
            waiting.extend(reversed(operand.parts))
        return found


@dataclass
class Statement:
    """An instruction of PTX with its line in the text, from 1."""

    line: int
    text: str
    opcode: str
    operands: tuple[Operand, ...]
    guard: str = ""
    is_guard_negated: bool = False
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    words: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """The first word of the opcode."""
        return self.words[0]


def read_statement(text: str, line: int, local_registers: frozenset[str]) -> Statement | None:
    """Read an instruction; None if the text is none. `local_registers` are those without a `%`."""
    found = _STATEMENT.fullmatch(text)
    if found is None:
        return None
    negation, guard, opcode, rest = found.groups()
    operands = _operands(rest, local_registers)
    statement = Statement(line, text, opcode, operands, guard or "", bool(negation))
    statement.words = tuple(opcode.replace("::", "_").split("."))
    has_result = _has_result(opcode, statement.name)
    if has_result and len(operands) < 2 and statement.name not in _WITHOUT_SOURCE:
        # Of another form than any that LLVM writes: it is left as it is.
        statement.words = ("unknown",)
        has_result = False
    written = operands[:1] if has_result else ()
    if operands and opcode.startswith("mbarrier.arrive") and operands[0].kind == "address":
        written = ()
    statement.writes = tuple(name for operand in written for name in operand.registers())
    reads = [name for operand in operands[len(written) :] for name in operand.registers()]
    if opcode.startswith("wgmma.mma_async"):
        reads += statement.writes  # The accumulator is added to.
    statement.reads = tuple(reads) + ((guard,) if guard else ())
    return statement


def _has_result(opcode: str, name: str) -> bool:
    if opcode.startswith(_WRITES_WITH):
        return True
    return name in _WRITES_FIRST or name not in _WRITES_NOTHING


def read_declarations(lines: list[str]) -> dict[str, str]:
    """Return the type of each register that is declared by name, such as {"complete": "pred"}."""
    types: dict[str, str] = {}
    for line in lines:
        for found in _DECLARATION.finditer(line.split("//", 1)[0]):
            kind, names, is_range = found.groups()
            if is_range:
                types[f"{names.strip()}*"] = kind
            else:
                types.update((name.strip(), kind) for name in names.split(","))
    return types


def declared_type(register: str, types: dict[str, str]) -> str:
    """Return the declared type of a register, such as "b32"; "b32" if there is no declaration."""
    return types.get(register) or types.get(f"{register.rstrip('0123456789')}*") or "b32"


def _operands(text: str, local_registers: frozenset[str]) -> tuple[Operand, ...]:
    stack: list[tuple[str, list[Operand]]] = [("", [])]
    is_pair = False
    for part in _PARTS.findall(text):
        inside = stack[-1][1]
        if part in "{[":
            stack.append((part, []))
            continue
        if part == "|":
            is_pair = True
            continue
        if part in (",", "+"):
            continue
        if part in "}]":
            if len(stack) == 1:
                continue
            bracket, parts = stack.pop()
            operand = Operand("vector", parts=tuple(parts)) if bracket == "{" else _address(parts)
            stack[-1][1].append(operand)
            continue
        operand = _simple(part, local_registers)
        if is_pair and inside:
            inside[-1] = Operand("pair", parts=(inside[-1], operand))
        else:
            inside.append(operand)
        is_pair = False
    return tuple(stack[0][1])


def _simple(part: str, local_registers: frozenset[str]) -> Operand:
    is_negated = part.startswith("!")
    name = part.lstrip("!")
    if name == "_":
        return Operand("none", name)
    if _REGISTER.fullmatch(name) or name in local_registers:
        return Operand("register", name, is_negated=is_negated)
    if re.fullmatch(r"[+-]?\d[\w.]*+", name):
        return Operand("number", name)
    sum_of = re.fullmatch(r"([%\w$.]++)(?:\+(-?\d++)|(-\d++))", name)
    if sum_of:
        base = _simple(sum_of[1], local_registers)
        return Operand("address", parts=(base,), offset=int(sum_of[2] or sum_of[3]))
    return Operand("symbol", name)


def _address(parts: list[Operand]) -> Operand:
    offset, rest = 0, list[Operand]()
    for part in parts:
        if part.kind == "number" and rest and re.fullmatch(r"[+-]?\d++", part.text):
            offset += int(part.text)
        elif part.kind == "address":
            offset += part.offset
            rest.extend(part.parts)
        else:
            rest.append(part)
    return Operand("address", parts=tuple(rest), offset=offset)
