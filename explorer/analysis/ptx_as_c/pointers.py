"""Which registers hold pointers, and to what: sums with the pointers among the kernel's arguments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from explorer.analysis.ptx_as_c.registers import Registers
from explorer.analysis.ptx_as_c.statements import Operand, Statement
from explorer.analysis.ptx_as_c.values import bits_of, number_of

#: The size of what a pointer points to, in bytes.
ELEMENT_BYTES = {
    "char": 1,
    "int8_t": 1,
    "uint8_t": 1,
    "half": 2,
    "bfloat16": 2,
    "int16_t": 2,
    "uint16_t": 2,
    "int32_t": 4,
    "uint32_t": 4,
    "float": 4,
    "int64_t": 8,
    "uint64_t": 8,
    "double": 8,
}
_UNKNOWN = ""
_INTEGER = "integer"


def find_pointers(
    statements: Iterable[Statement], parameters: Mapping[str, str], registers: Registers
) -> dict[str, str]:
    """Return the type of what each pointer points to, by register; "char" where it differs.

    `parameters` are the types of the kernel's parameters in C, by their symbol.
    """
    sources: defaultdict[str, list[tuple[Operand, ...]]] = defaultdict(list)
    found: dict[str, str] = {}
    for statement in statements:
        for register in statement.writes:
            if registers.types.get(register) in ("uint64_t", "int64_t"):
                found[register] = _UNKNOWN
                sources[register].append(_sources(statement))
    waiting = list(found)
    uses: defaultdict[str, set[str]] = defaultdict(set)
    for register, written in sources.items():
        for operands in written:
            for operand in operands:
                for name in operand.registers():
                    uses[name].add(register)
    while waiting:
        register = waiting.pop()
        kinds = [_kind(operands, found, parameters) for operands in sources[register]]
        known = {kind for kind in kinds if kind != _UNKNOWN}
        pointers = known - {_INTEGER}
        kind = _INTEGER if _INTEGER in known or not known else min(pointers) if len(pointers) == 1 else "char"
        if not known:
            kind = _UNKNOWN
        if _rank(kind) > _rank(found[register]):
            found[register] = kind
            waiting.extend(uses[register])
    return {register: kind for register, kind in found.items() if kind not in (_UNKNOWN, _INTEGER)}


def _rank(kind: str) -> int:
    """Return the distance of a kind from unknown. The distance only rises, so that the search ends."""
    return 0 if kind == _UNKNOWN else 3 if kind == _INTEGER else 2 if kind == "char" else 1


def _sources(statement: Statement) -> tuple[Operand, ...]:
    """Return the operands that a pointer may come from: those in a sum, a copy or a choice."""
    is_copy = statement.opcode in ("mov.b64", "mov.u64", "selp.b64", "cvta.to.global.u64", "cvta.global.u64")
    is_sum = statement.opcode in ("add.s64", "add.u64")
    if statement.opcode in ("mad.wide.s32", "mad.wide.u32"):
        return statement.operands[3:]
    is_parameter = statement.opcode.startswith("ld.param.")
    return statement.operands[1:] if is_copy or is_sum or is_parameter else ()


def _kind(operands: tuple[Operand, ...], found: Mapping[str, str], parameters: Mapping[str, str]) -> str:
    if len(operands) == 1 and operands[0].kind == "address":
        symbol = operands[0].parts[0].text if operands[0].parts else ""
        kind = parameters.get(symbol, "") if operands[0].offset == 0 else ""
        return kind.removesuffix("*").strip() if kind.endswith("*") else _INTEGER
    kinds = [found.get(each.text, _INTEGER) for each in operands if each.kind == "register"]
    pointers = [kind for kind in kinds if kind not in (_UNKNOWN, _INTEGER)]
    is_choice = len(operands) == 3
    if is_choice:  # Its condition is a predicate.
        kinds = kinds[:2]
    if len(pointers) == 1 and (not is_choice or _INTEGER not in kinds):
        return pointers[0]
    if is_choice and len(set(pointers)) == 1:
        return pointers[0]
    return _UNKNOWN if _UNKNOWN in kinds else _INTEGER


def index_of(statement: Statement, element_bytes: int) -> tuple[Operand, str, int] | None:
    """Return the index that an offset in bytes is for: an operand, how it is widened, and a factor.

    None: the offset is not known to be a multiple of the size of an element.
    """
    operands, words = statement.operands, statement.words
    if len(operands) < 3 or operands[2].kind != "number" or operands[1].kind != "register":
        return None
    if statement.opcode == "shl.b64":
        distance = number_of(operands[2].text)
        factor = 1 << int(distance) if 0 <= distance < 32 else 0
        kind = "int64_t"
    elif words[0] in ("mul", "mad") and words[1:2] == ("wide",) and words[-1] in ("s32", "u32"):
        factor = bits_of(operands[2].text, 31)  # If the sign bit of a factor is set, no index is known.
        if factor != bits_of(operands[2].text, 32):
            return None
        kind = "int32_t" if words[-1] == "s32" else "uint32_t"
    else:
        return None
    if factor == 0 or factor % element_bytes:
        return None
    return operands[1], kind, factor // element_bytes
