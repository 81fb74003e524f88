"""The registers of a function of PTX: how often each is written and read, and its type in C.

PTX registers have a size. The type in C is the type that most instructions use the register as. A register
that is only copied has the type of the source or destination of the copy.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from explorer.analysis.ptx_as_c.statements import Operand, Statement, declared_type

_TYPE = re.compile(r"[bsuf](?:8|16|32|64|128)|pred|f16x2|bf16|bf16x2|tf32")
_FLOATS = ("f32", "f64")
#: LLVM writes these as signed for operands of any sign.
_SIGN_FREE = frozenset(["add", "sub", "mul", "mad", "ld", "st"])
_WIDER = {"s16": "s32", "u16": "u32", "s32": "s64", "u32": "u64"}


def types_of(statement: Statement) -> list[str]:
    """Return the words of an opcode that are types, in order."""
    return [word for word in statement.words if _TYPE.fullmatch(word)]


def operand_types(statement: Statement) -> list[str]:
    """Return what an instruction takes each of its operands for, such as "s32"; "" if it does not matter."""
    kinds = types_of(statement)
    kind = kinds[-1] if kinds else ""
    count = len(statement.operands)
    match statement.name:
        case "setp":
            return ["pred", kind, kind, *["pred"] * (count - 3)]
        case "selp":
            return [kind, kind, kind, "pred"]
        case "cvt" if len(kinds) >= 2:
            return [kinds[-2], *[kind] * (count - 1)]
        case "mul" | "mad" if "wide" in statement.words:
            wider = _WIDER.get(kind, kind)
            return [wider, kind, kind, wider][:count]
        case "shl" | "shr":
            return [kind, kind, "u32"]
        case "ld" | "ldu":
            return [kind, ""]
        case "st":
            return ["", kind]
        case "shfl":
            return [kind, kind, "", "", ""]
        case "mma" | "wgmma" if kinds:
            return [kinds[0], "", "", kinds[-1] if statement.name == "mma" else ""][:count] + [""] * 8
        case "atom" | "red":
            return [kind, "", kind, kind][:count] if statement.name == "atom" else ["", kind]
        case "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "min" | "max" | "neg" | "abs" | "mov":
            return [kind] * count
        case "and" | "or" | "xor" | "not" | "ex2" | "lg2" | "sqrt" | "rsqrt" | "rcp" | "sin" | "cos" | "tanh":
            return [kind] * count
        case "copysign" | "redux":
            return [kind] * count
    return [""] * count


@dataclass
class Registers:
    """The registers of a function.

    `writes` and `reads` count the operands. `types` has the type in C, without pointers: these depend on the
    kernel's parameters.
    """

    writes: Counter[str]
    reads: Counter[str]
    types: dict[str, str]

    @classmethod
    def of(cls, statements: Iterable[Statement], declared: dict[str, str]) -> Registers:
        """Count the uses of all registers, and find their types."""
        writes, reads = Counter[str](), Counter[str]()
        votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        alike = _Sets()
        statements = list(statements)
        # A register that holds a number is copied to registers of all types.
        numbers = {
            each.writes[0]
            for each in statements
            if each.name == "mov" and each.writes and each.operands[-1].kind == "number"
        }
        for statement in statements:
            writes.update(statement.writes)
            reads.update(statement.reads)
            weight = 1 if statement.name in _SIGN_FREE else 4
            if statement.name != "mov":  # The instruction only copies bits.
                for operand, kind in zip(statement.operands, operand_types(statement), strict=False):
                    for register in operand.registers():
                        votes[register][kind] += weight
            for group in _copied(statement):
                alike.join([name for name in group if name not in numbers or writes[name] > 1])
        total: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for register, counted in votes.items():
            total[alike.find(register)].update(counted)
        types = {
            register: _c_type(declared_type(register, declared), total[alike.find(register)])
            for register in {*writes, *reads}
        }
        return cls(writes, reads, types)


def _copied(statement: Statement) -> list[list[str]]:
    """Return groups of registers between which an instruction only copies, or that one access fills."""
    operands = statement.operands
    if statement.name == "mov":
        return [[name for operand in operands for name in _plain(operand)]] if len(operands) == 2 else []
    if statement.name == "selp":
        return [[name for operand in operands[:3] for name in _plain(operand)]]
    if statement.name == "shfl":
        first = operands[0].parts[0] if operands[0].kind == "pair" else operands[0]
        return [[name for operand in (first, operands[1]) for name in _plain(operand)]]
    if statement.name == "ld" and operands and operands[0].kind == "vector":
        return [operands[0].registers()]
    return []


def _plain(operand: Operand) -> list[str]:
    return [operand.text] if operand.kind == "register" else []


def _c_type(declared: str, votes: Counter[str]) -> str:
    if declared == "pred":
        return "bool"
    size = re.sub(r"\D", "", declared) or "32"
    signed = sum(count for kind, count in votes.items() if kind.startswith("s"))
    unsigned = sum(count for kind, count in votes.items() if kind.startswith("u"))
    floats = sum(count for kind, count in votes.items() if kind in _FLOATS)
    if size in ("32", "64") and floats > signed + unsigned:
        return "float" if size == "32" else "double"
    return f"int{size}_t" if signed > unsigned else f"uint{size}_t"


class _Sets:
    """Disjoint sets of names."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def find(self, name: str) -> str:
        while (parent := self._parents.get(name, name)) != name:
            self._parents[name] = self._parents.get(parent, parent)
            name = parent
        return name

    def join(self, names: list[str]) -> None:
        for other in names[1:]:
            one, two = self.find(names[0]), self.find(other)
            if one != two:
                self._parents[two] = one
