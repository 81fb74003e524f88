"""What the instructions of a program are for: how many of each kind, and how many in the innermost loop.

In: SASS or AMDGCN assembly. Out: a row a kind; memory accesses also by space, direction and width. These are
instructions as they stand in the program, not as often as they run.

Source: what NVIDIA's "CUDA binary utilities" and AMD's instruction set manuals call the instructions.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal, get_args

from explorer.analysis.graphs.blocks import Function
from explorer.analysis.graphs.control_flow import read_functions
from explorer.analysis.graphs.loops import find_loops

Kind = Literal[
    "tensor", "fp32", "fp16", "fp64", "special function", "integer", "conversion", "move", "memory",
    "exchange", "synchronisation", "control", "other",
]  # fmt: skip
Direction = Literal["", "load", "store", "copy", "atomic"]
_ORDER: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, order=True)
class Purpose:
    """What an instruction is for. Of memory, `space` is where, `bits` what a lane moves (0: not said)."""

    kind: Kind
    space: str = ""
    direction: Direction = ""
    bits: int = 0


@dataclass(frozen=True)
class MixRow:
    """How many instructions are for a purpose, in all and in the innermost loop."""

    kind: Kind
    space: str
    direction: str
    bits: int
    total: int
    innermost: int


@dataclass(frozen=True)
class InnermostLoop:
    """The deepest loop; of several, the one with the most instructions. Lines are those of the text."""

    first_line: int
    last_line: int
    depth: int
    instructions: int


@dataclass(frozen=True)
class InstructionMix:
    """The mix of a whole program; `loop` is None where it has none."""

    rows: tuple[MixRow, ...]
    total: int
    loop: InnermostLoop | None


def instruction_mix(text: str, language: str) -> InstructionMix:
    """Count the instructions of a program by purpose.

    Raises:
        NothingToDraw: there is no function in the text.
    """
    purpose = {"sass": purpose_of_sass, "amdgcn": purpose_of_amdgcn}[language]
    functions = read_functions(text, language)
    total: Counter[Purpose] = Counter(
        purpose(instruction.text)
        for function in functions
        for block in function.blocks
        for instruction in block.instructions
    )
    loop, lines = _innermost_loop(functions)
    inside: Counter[Purpose] = Counter(
        purpose(instruction.text)
        for function in functions
        for block in function.blocks
        for instruction in block.instructions
        if instruction.line in lines
    )
    order = sorted(total, key=lambda each: (_ORDER.index(each.kind), each))
    rows = (
        MixRow(each.kind, each.space, each.direction, each.bits, total[each], inside[each]) for each in order
    )
    return InstructionMix(tuple(rows), total.total(), loop)


def _innermost_loop(functions: list[Function]) -> tuple[InnermostLoop | None, set[int]]:
    """The loop, and the lines of its instructions."""
    found: list[tuple[InnermostLoop, set[int]]] = []
    for function in functions:
        nest = find_loops(function.successors())
        around = {loop.parent for loop in nest.loops}
        for index, loop in enumerate(nest.loops):
            if index in around:
                continue
            blocks = [block for at, block in enumerate(function.blocks) if nest.innermost[at] == index]
            lines = {instruction.line for block in blocks for instruction in block.instructions}
            if lines:
                found.append((InnermostLoop(min(lines), max(lines), loop.depth, len(lines)), lines))
    if not found:
        return None, set()
    return max(found, key=lambda each: (each[0].depth, each[0].instructions))


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
        "synchronisation",
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
#: These move as much as their descriptor says, not so much a lane.
_BULK = re.compile(r"UTM|UBLKCP|UTC|LDTM|STTM")


def purpose_of_sass(text: str) -> Purpose:
    """What a SASS instruction is for."""
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
    if opcode in ("LDSM", "STSM"):  # so many matrices of 8 × 8 times 16 bits, 32 bits of each in a lane
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
    ("synchronisation", r"s_(?:waitcnt|wait_|barrier|sendmsg)|buffer_(?:gl\d_inv|wb|inv)"),
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
    """What an instruction of AMDGCN assembly is for."""
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
