"""Registers of the machine code: live ones along it, spills, limits, and what the assembler took."""

from __future__ import annotations

import base64
import re

import msgspec

from explorer.analyses.analysis import Analysis, Subject
from explorer.analyses.stage_lines import source_lines
from explorer.analysis.occupancy_steps import RegisterStep, register_steps
from explorer.errors import NotAnswerable
from explorer.pipeline.questions.registers import LiveAt, LiveRegisters
from explorer.pipeline.targets import Target, find_target
from explorer.store import Record

_INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)")
_FUNCTION = re.compile(r"^([^.\s][^\s:]*):$")
#: Loads and stores of local memory, which is where the assembler spills to.
_SPILLS = {"STL": "store", "LDL": "load"}
_MAXNREG = re.compile(r"^\s*\.maxnreg (\d+)", re.MULTILINE)
#: Since Volta the assembler counts two registers that no instruction names.
_UNNAMED = 2

_SOURCE = "nvdisasm -plr and ptxas -v of this Triton"

#: What LLVM says of a kernel for AMD, by the comment or the key that says it.
_AMD_FACTS = (
    (r"^; NumVgprs: (\d+)", "vector registers"),
    (r"^; NumAgprs: (\d+)", "accumulation registers"),
    (r"^; TotalNumVgprs: (\d+)", "both together"),
    (r"^; (?:TotalNumSgprs|NumSgprs): (\d+)", "scalar registers of a wave"),
    (r"^\s*\.vgpr_spill_count:\s*(\d+)", "vector registers spilled"),
    (r"^\s*\.sgpr_spill_count:\s*(\d+)", "scalar registers spilled"),
    (r"^; ScratchSize: (\d+)", "bytes of scratch a lane"),
    (r"^; Occupancy: (\d+)", "waves a SIMD, by registers and shared memory, as LLVM sees it"),
)


class Instruction(msgspec.Struct, frozen=True):
    """An instruction: its line in the stage, the line of the source (0: none), and the registers alive there.

    `spill` is "store" or "load" where it moves a register to or from local memory.
    """

    function: str
    address: int
    line: int
    source_line: int
    general: int
    uniform: int
    predicate: int
    uniform_predicate: int
    spill: str


class Fact(msgspec.Struct, frozen=True):
    """A number that the assembly states, in words."""

    name: str
    value: int


class RegistersDocument(msgspec.Struct, frozen=True):
    """Live registers by instruction, in the order of the machine code.

    Where there are none, `reason` says why. `most_general` is the most general registers alive at any of
    them, `named_general` how many registers the code has names for, `registers` those that the assembler
    took; `difference` is why that is more. `limit` is the most a thread can have, by the hardware or because
    the PTX asks for no more. `facts` are what the assembly of AMD states.
    """

    instructions: list[Instruction]
    reason: str
    most_general: int | None
    named_general: int | None
    registers: int | None
    difference: str
    limit: int
    limited_by: str
    steps: tuple[RegisterStep, ...]
    spill_stores_bytes: int | None
    spill_loads_bytes: int | None
    facts: list[Fact]
    source: str


def _find(subject: Subject) -> RegistersDocument:
    record = subject.record
    result, resources = record.result, record.result.resources
    if result.binary is None or resources is None:
        raise NotAnswerable("The compilation has no binary: see its messages.")
    target = find_target(record.request.target)
    live = _live(subject)
    kernel = result.specialized.kernel if result.specialized else ""
    most = max((each.general for each in live.instructions), default=None)
    named = _named(live, kernel)
    limit, limited_by = _limit(record, target)
    return RegistersDocument(
        instructions=_instructions(record, live) if live.instructions else [],
        reason=live.reason,
        most_general=most,
        named_general=named,
        registers=resources.registers,
        difference=_difference(most, named, resources.registers, hands_over=_hands_over(record)),
        limit=limit,
        limited_by=limited_by,
        steps=register_steps(
            target.name,
            resources.threads or 0,
            resources.shared_bytes or 0,
            target.device.multiprocessor.registers_per_thread,
        ),
        spill_stores_bytes=resources.spill_stores_bytes,
        spill_loads_bytes=resources.spill_loads_bytes,
        facts=_facts(record),
        source=_SOURCE if live.instructions else "the compiler's report of the binary",
    )


def _live(subject: Subject) -> LiveRegisters:
    """What the disassembler says, or why it does not."""
    binary = subject.record.result.binary
    assert binary is not None
    data = base64.b64encode(subject.record.read(binary.data)).decode("ascii")
    return subject.ask("registers", data, LiveRegisters)


def _named(live: LiveRegisters, kernel: str) -> int | None:
    if not live.instructions:
        return None
    counts = {each.function: each.general for each in live.named}
    return counts.get(kernel, max(counts.values(), default=0))


def _instructions(record: Record, live: LiveRegisters) -> list[Instruction]:
    """Join live registers and the lines of the stage, by function and address."""
    stage = record.stage("sass")
    lines = source_lines(record, stage)
    places: dict[tuple[str, int], tuple[int, str]] = {}
    functions = {each.function for each in live.instructions}
    function = next(iter(functions), "") if len(functions) == 1 else ""
    for number, text in enumerate(record.text(stage.text).splitlines(), 1):
        label = _FUNCTION.match(text)
        if label and label[1] in functions:
            function = label[1]
        elif found := _INSTRUCTION.search(text):
            places[function, int(found[1], 16)] = (number, found[2].partition(".")[0])
    return [
        _instruction(each, *places.get((each.function, each.address), (0, "")), lines)
        for each in live.instructions
    ]


def _instruction(live: LiveAt, line: int, opcode: str, lines: list[int]) -> Instruction:
    return Instruction(
        live.function,
        live.address,
        line,
        lines[line - 1] if 0 < line <= len(lines) else 0,
        live.general,
        live.uniform,
        live.predicate,
        live.uniform_predicate,
        _SPILLS.get(opcode, ""),
    )


def _limit(record: Record, target: Target) -> tuple[int, str]:
    """The most registers a thread can have, and who says so."""
    most = target.device.multiprocessor.registers_per_thread
    stage = record.result.stages.get("ptx")
    asked = _MAXNREG.search(record.text(stage.text)) if stage else None
    return (int(asked[1]), ".maxnreg of the PTX") if asked else (most, "the hardware")


def _hands_over(record: Record) -> bool:
    """Whether warps give and take registers while the kernel runs."""
    stage = record.result.stages.get("sass")
    return stage is not None and "USETMAXREG" in record.text(stage.text)


def _difference(most: int | None, named: int | None, taken: int | None, *, hands_over: bool) -> str:
    """Why the assembler takes more registers than are ever alive at once."""
    if most is None or named is None or taken is None:
        return ""
    parts = []
    if named > most:
        why = (
            "warps hand registers to each other (USETMAXREG), and each has numbers of its own"
            if hands_over
            else "values of 64 and more bits need aligned registers in a row"
        )
        parts.append(f"{named - most} because {why}: the numbers go up to R{named - 1}")
    unnamed = taken - named
    if unnamed >= _UNNAMED:
        parts.append(f"{_UNNAMED} that the assembler counts since Volta and no instruction names")
        unnamed -= _UNNAMED
    if unnamed > 0:
        parts.append(f"{unnamed} by which the count is rounded up, or that the kernel has asked for")
    return "; ".join(parts)


def _facts(record: Record) -> list[Fact]:
    stage = record.result.stages.get("amdgcn")
    if stage is None:
        return []
    text = record.text(stage.raw or stage.text)
    found = ((re.search(pattern, text, re.MULTILINE), name) for pattern, name in _AMD_FACTS)
    return [Fact(name, int(match[1])) for match, name in found if match]


ANALYSIS = Analysis(
    name="registers",
    summary="Live registers at each instruction of the machine code, spills, and what limits them.",
    version=4,
    document=RegistersDocument,
    find=_find,
)
