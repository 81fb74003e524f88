"""The instruction mix of a program: instructions by purpose, in total and in each loop that does work.

In: SASS or AMDGCN assembly. Out: a row for each purpose; memory accesses also by space, direction and width.
The counts are static: how often the instructions run is not considered.

Source: the names of the instructions in NVIDIA's "CUDA binary utilities" and AMD's instruction set manuals.
"""

from __future__ import annotations

import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from explorer.analysis.graphs.blocks import Function
from explorer.analysis.graphs.control_flow import read_functions
from explorer.analysis.graphs.loops import LoopNest, find_loops
from explorer.model.languages import find_language

Kind = Literal[
    "tensor", "fp32", "fp16", "fp64", "special function", "integer", "conversion", "move", "memory",
    "exchange", "synchronization", "control", "other",
]  # fmt: skip
Direction = Literal["", "load", "store", "copy", "atomic"]
#: The text before an instruction of assembly: blanks, control bits and the offset.
_PREFIX = re.compile(r"^(?:.*/\*[0-9a-f]{4,}\*/)?\s*")
_ORDER: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, order=True)
class Purpose:
    """The purpose of an instruction. In a memory access, a lane moves `bits` bits (0: unknown)."""

    kind: Kind
    space: str = ""
    direction: Direction = ""
    bits: int = 0


@dataclass(frozen=True)
class MixRow:
    """The number of instructions of a purpose, in total and in each loop of the mix."""

    kind: Kind
    space: str
    direction: str
    bits: int
    total: int
    in_loops: tuple[int, ...]


@dataclass(frozen=True)
class MixLoop:
    """A loop, without the loops in it, unless these only wait.

    `ranges` are the first and the last line of each stretch of its instructions in the text. `depth` is the
    number of loops around an instruction, `waits` the number of loops in it that only wait.
    """

    ranges: tuple[tuple[int, int], ...]
    depth: int
    instructions: int
    waits: int


@dataclass(frozen=True)
class InstructionMix:
    """The mix of a whole program.

    `loops` are the loops that do more than wait, the loop with the most work first. Matrix instructions count
    most, then memory accesses that are not of constants, then the depth.
    """

    rows: tuple[MixRow, ...]
    total: int
    loops: tuple[MixLoop, ...]


#: A loop that has only these instructions and synchronizes waits: it tests a barrier until the barrier
#: completes.
WAITING: frozenset[Kind] = frozenset({"synchronization", "control", "move", "integer", "exchange", "other"})
_MOST_LOOPS = 16


def purpose_reader(language: str) -> Callable[[str], Purpose]:
    """Return the function that reads the purpose of an instruction."""
    purpose: Callable[[str], Purpose] = pkgutil.resolve_name(find_language(language).purpose)
    return purpose


def purpose_of(text: str, language: str) -> Purpose:
    """Return the purpose of a line of machine code."""
    return purpose_reader(language)(_PREFIX.sub("", text))


def uses_matrix_units(text: str, language: str) -> bool:
    """Return whether machine code has an instruction for the matrix units."""
    purpose = purpose_reader(language)
    return any(purpose(_PREFIX.sub("", line)).kind == "tensor" for line in text.splitlines())


def instruction_mix(text: str, language: str) -> InstructionMix:
    """Count the instructions of a program by purpose.

    Raises:
        NothingToDraw: there is no function in the text.
    """
    purpose = purpose_reader(language)
    purposes: dict[int, Purpose] = {}
    loops: list[_Loop] = []
    for function in read_functions(text, language):
        of_function = {
            instruction.line: purpose(instruction.text)
            for block in function.blocks
            for instruction in block.instructions
        }
        purposes.update(of_function)
        loops += _loops(function, of_function)
    loops = sorted(loops, key=_work, reverse=True)[:_MOST_LOOPS]
    total = Counter(purposes.values())
    order = sorted(total, key=lambda each: (_ORDER.index(each.kind), each))
    rows = (
        MixRow(
            each.kind, each.space, each.direction, each.bits, total[each],
            tuple(loop.purposes[each] for loop in loops),
        )
        for each in order
    )  # fmt: skip
    return InstructionMix(
        tuple(rows),
        total.total(),
        tuple(
            MixLoop(_ranges(loop.lines, purposes), loop.depth, len(loop.lines), loop.waits) for loop in loops
        ),
    )


@dataclass
class _Loop:
    """A loop that does more than wait, with the lines and purposes of its own instructions."""

    depth: int
    waits: int = 0
    lines: list[int] = field(default_factory=list)
    purposes: Counter[Purpose] = field(default_factory=Counter)


def _loops(function: Function, purposes: Mapping[int, Purpose]) -> list[_Loop]:
    """Return the loops of a function that do more than wait."""
    nest = find_loops(function.successors())
    kinds: list[set[Kind]] = [set() for _ in nest.loops]
    for block, inside in zip(function.blocks, nest.innermost, strict=True):
        for each_loop in _outwards(nest, inside):
            kinds[each_loop].update(_kind_of_work(purposes[each.line]) for each in block.instructions)
    working: dict[int, _Loop] = {}

    def nearest(inside: int | None) -> _Loop | None:
        """Return the innermost loop around a block or a loop that does more than wait."""
        return next((working[each] for each in _outwards(nest, inside) if each in working), None)

    for index, loop in enumerate(nest.loops):  # the outermost first
        around = nearest(loop.parent)
        if not kinds[index] <= WAITING or "synchronization" not in kinds[index]:
            working[index] = _Loop(1 + (around.depth if around else 0))
        elif around:
            around.waits += 1
    for block, inside in zip(function.blocks, nest.innermost, strict=True):
        if (around := nearest(inside)) is not None:
            around.lines += (each.line for each in block.instructions)
            around.purposes.update(purposes[each.line] for each in block.instructions)
    return [loop for loop in working.values() if loop.lines]


def _kind_of_work(purpose: Purpose) -> Kind:
    """Return the kind; the allocation of tensor memory, which is tried until there is room, synchronizes."""
    is_allocation = (purpose.space, purpose.direction) == ("tensor memory", "atomic")
    return "synchronization" if is_allocation else purpose.kind


def _outwards(nest: LoopNest, loop: int | None) -> Iterator[int]:
    """Yield a loop and the loops around it."""
    while loop is not None:
        yield loop
        loop = nest.loops[loop].parent


def _work(loop: _Loop) -> tuple[bool, bool, int, int, int, int]:
    tensor = sum(count for each, count in loop.purposes.items() if each.kind == "tensor")
    memory = sum(
        count for each, count in loop.purposes.items() if each.kind == "memory" and each.space != "constant"
    )
    return tensor > 0, memory > 0, loop.depth, tensor, memory, len(loop.lines)


def _ranges(lines: Iterable[int], known: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Join lines of instructions that follow one another; lines without an instruction do not separate."""
    inside = set(lines)
    ranges: list[tuple[int, int]] = []
    is_open = False
    for line in sorted(known):
        if line in inside:
            ranges[-1:] = [(ranges[-1][0], line)] if is_open else [*ranges[-1:], (line, line)]
        is_open = line in inside
    return tuple(ranges)


# --- SASS ------------------------------------------------------------------------------------------

_SASS_OPCODE = re.compile(r"(?:@!?U?P[0-9T]\s+)?([A-Z][A-Z0-9_]*)((?:\.[\w]+)*)")
_SASS_PATTERNS: tuple[tuple[Kind, str], ...] = (
    ("tensor", r"[HIDQOB]MMA|OMMA|[HIQB]GMMA|UTC[A-Z]*MMA"),
    ("fp64", r"D(?:ADD|MUL|FMA|SETP|MNMX)"),
    ("special function", r"U?MUFU|FCHK"),
    ("conversion", r"U?(?:F2F|F2I|I2F|F2FP|I2FP|F2IP|I2I|FRND)"),
    ("fp16", r"H(?:ADD2|MUL2|FMA2|SET2|SETP2|MNMX2)(?:_32I)?|FHADD|FHFMA"),
    ("fp32", r"U?F(?:ADD|MUL|FMA|ADD2|MUL2|FMA2|SEL|MNMX|MNMX3|SETP|SET|SWZADD|FMA32I|MUL32I|ADD32I)"),
    ("exchange", r"SHFL|U?VOTE|VOTEU|MATCH|C?REDUX|ELECT"),
    (
        "synchronization",
        r"BAR|U?DEPBAR|LDGDEPBAR|MEMBAR|FENCE|SYNCS|WARPSYNC|WARPGROUP|ERRBAR|CCTLL?|UTMACCTL|UTCBAR"
        r"|UTMACMDFLUSH|USETMAXREG|ACQBULK|ARRIVES|UCGABAR_\w+|PREEXIT|ACQSHMINIT",
    ),
    (
        "control",
        r"BRA|BRXU?|JMP|JMX|CALL|RET|EXIT|BSSY|BSYNC|BREAK|KILL|BPT|NANOSLEEP|YIELD|RPCMOV|BMOV|LEPC",
    ),
    ("move", r"U?MOV|MOV32I|CS2U?R|S2U?R|R2UR|UP2UR|P2R|R2P|UR2UP|MOVM|R2B|B2R"),
    (
        "integer",
        r"U?(?:IMAD|IADD|IADD3|ISETP|LOP3|LOP|LEA|SHF|SHL|SHR|IABS|IMNMX|VIADD|VIMNMX|VIMNMX3|PRMT|SGXT|BFE|BFI"
        r"|FLO|POPC|BREV|BMSK|ISCADD|PLOP3|SEL|PSEL|IDP|IDP4A|IMUL|VABSDIFF|VABSDIFF4|VIADDMNMX|PSETP|IADD32I"
        r"|LOP32I|IADD64|ISCADD32I)",
    ),
)
_SASS_KINDS = tuple((kind, re.compile(rf"(?:{pattern})$")) for kind, pattern in _SASS_PATTERNS)
_SASS_ACCESSES: dict[tuple[str, Direction], str] = {
    ("global", "load"): "LDG UTMAPF",
    ("global", "store"): "STG",
    ("global", "atomic"): "ATOM ATOMG RED REDG",
    ("generic", "load"): "LD",
    ("generic", "store"): "ST",
    ("shared", "load"): "LDS LDSM",
    ("shared", "store"): "STS STSM",
    ("shared", "atomic"): "ATOMS REDS",
    ("local", "load"): "LDL",
    ("local", "store"): "STL",
    ("constant", "load"): "LDC ULDC LDCU",
    ("global to shared", "copy"): "LDGSTS UTMALDG UBLKCP",
    ("shared to global", "copy"): "UTMASTG",
    ("shared to global", "atomic"): "UTMAREDG",
    ("tensor memory", "load"): "LDTM",
    ("tensor memory", "store"): "STTM",
    ("tensor memory", "atomic"): "UTCATOMSWS",
    ("shared to tensor memory", "copy"): "UTCCP",
}
_SASS_MEMORY = {opcode: where for where, opcodes in _SASS_ACCESSES.items() for opcode in opcodes.split()}
#: The descriptor of these instructions says how many bytes they move, not the number of lanes.
_BULK = re.compile(r"UTM|UBLKCP|UTC|LDTM|STTM")


def purpose_of_sass(text: str) -> Purpose:
    """Return the purpose of a SASS instruction."""
    found = _SASS_OPCODE.match(text)
    if found is None:
        return Purpose("other")
    opcode, modifiers = found[1], found[2].split(".")[1:]
    memory = _SASS_MEMORY.get(opcode)
    if memory:
        return Purpose("memory", *memory, _sass_bits(opcode, modifiers))
    if opcode in ("IMAD", "UIMAD") and "MOV" in modifiers:
        return Purpose("move")
    return Purpose(next((kind for kind, pattern in _SASS_KINDS if pattern.match(opcode)), "other"))


def _sass_bits(opcode: str, modifiers: list[str]) -> int:
    if _BULK.match(opcode):
        return 0
    if opcode in ("LDSM", "STSM"):  # n matrices of 8 × 8 times 16 bits: 32 bits of each in a lane
        return 32 * next((int(each) for each in modifiers if each in ("2", "4")), 1)
    for each in modifiers:
        if each in ("256", "128", "64"):
            return int(each)
        if each in ("U16", "S16"):
            return 16
        if each in ("U8", "S8"):
            return 8
    return 32


# --- AMDGCN ----------------------------------------------------------------------------------------

_AMD_PATTERNS: tuple[tuple[Kind, str], ...] = (
    ("tensor", r"v_(?:mfma|smfmac|wmma|swmmac|dot\d)"),
    ("exchange", r"ds_(?:b?permute|swizzle)|v_(?:readlane|writelane|readfirstlane|permlane)|\w+_dpp$"),
    ("synchronization", r"s_(?:waitcnt|wait_|barrier|sendmsg)|buffer_(?:gl\d_inv|wb|inv)"),
    ("control", r"s_(?:c?branch|endpgm|setpc|swappc|getpc|trap)"),
    ("other", r"s_(?:nop|delay_alu|clause|sleep|setprio|sched)"),
    ("conversion", r"v_(?:cvt|trunc|rndne|floor|ceil|pack)"),
    ("special function", r"v_(?:exp|log|rcp|rsq|sqrt|sin|cos|ldexp|frexp|div_)"),
    ("move", r"[vs]_(?:dual_)?mov|v_(?:accvgpr|swap|pk_mov)"),
    ("fp64", r"v_\w*_f64"),
    ("fp16", r"v_\w*_(?:b?f16|bf16)"),
    ("fp32", r"v_\w*_f32|v_fma_mix"),
    ("integer", r"[vs]_"),
)
_AMD_KINDS = tuple((kind, re.compile(pattern)) for kind, pattern in _AMD_PATTERNS)
_AMD_MEMORY = re.compile(
    r"(?:(?P<space>global|flat|buffer|scratch|ds)_(?P<direction>load|store|read|write|atomic|add|max|min|cmpst)"
    r"|s_(?:buffer_)?load)"
    r"(?P<two>2\w*?|_2addr\w*?)?_(?P<type>.*)"
)
_AMD_SPACES = {"ds": "shared", "scratch": "local", "s": "constant", "flat": "generic"}


def purpose_of_amdgcn(text: str) -> Purpose:
    """Return the purpose of an instruction of AMDGCN assembly."""
    opcode = text.split(" ", 1)[0].split("\t", 1)[0]
    memory = _AMD_MEMORY.match(opcode)
    if memory:
        name = memory["direction"] or "load"
        is_load, is_store = "load" in name or name == "read", name in ("store", "write")
        return Purpose(
            "memory",
            _AMD_SPACES.get(memory["space"] or "s", "global"),
            "load" if is_load else "store" if is_store else "atomic",
            _amd_bits(memory["type"]) * (2 if memory["two"] else 1),
        )
    return Purpose(next((kind for kind, pattern in _AMD_KINDS if pattern.match(opcode)), "other"))


def _amd_bits(type_name: str) -> int:
    if "short" in type_name or "16" in type_name:
        return 16
    if "byte" in type_name or type_name.endswith(("u8", "i8", "b8")):
        return 8
    count = re.search(r"dwordx(\d+)", type_name)
    if count:
        return 32 * int(count[1])
    bits = re.search(r"[bui](\d+)", type_name)
    return int(bits[1]) if bits else 32
