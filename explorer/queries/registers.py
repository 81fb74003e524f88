"""The query for the registers of machine code: live registers, spills, limits, and the allocation."""

from __future__ import annotations

import base64
import dataclasses

import msgspec

from explorer.analysis.assembly.sass import Place, places_by_function, places_of, section_names
from explorer.analysis.assembly.stated_registers import Fact, amd_facts, register_limit
from explorer.analysis.occupancy.steps import RegisterStep, register_steps
from explorer.errors import NotAnswerable
from explorer.model.answers import LiveAt, LiveRegisters
from explorer.model.hardware import Target, find_target
from explorer.queries.query import Query, Subject
from explorer.queries.stage_lines import source_lines
from explorer.store import Record

#: Loads and stores of local memory, where the assembler spills to.
_SPILLS = {"STL": "store", "LDL": "load"}
#: Since Volta the assembler counts two registers that no instruction names.
_UNNAMED = 2

_TASK = "registers"


class Instruction(msgspec.Struct, frozen=True):
    """An instruction: its line in the stage, its source line (0: none), and the registers alive there.

    `spill` is "store" or "load" if it moves a register to or from local memory.
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


class RegistersDocument(msgspec.Struct, frozen=True):
    """Live registers by instruction, in the order of the machine code.

    Without instructions, `reason` says why. `most_general` is the largest number of live general registers,
    `named_general` the number of registers that the code names, and `registers` the number that the assembler
    allocated; `difference` explains why that is more. `limit` is the limit of a thread, by the hardware or by
    the PTX. `facts` are stated by the assembly of AMD kernels.
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
        raise NotAnswerable("The compilation has no binary. See its messages.")
    target = find_target(record.request.target)
    live = _shown(record, subject.ask_compiler(_TASK, _binary(subject), LiveRegisters))
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
        source=(
            f"{live.tool} (-plr), and ptxas -v of this Triton"
            if live.instructions
            else "the compiler's report of the binary"
        ),
    )


def prepare(subject: Subject) -> None:
    """Let the disassembler begin: it takes longer than all other queries about a binary."""
    if subject.record.result.binary is not None:
        subject.prepare_compiler(QUERY, _TASK, _binary(subject))


def _binary(subject: Subject) -> str:
    binary = subject.record.result.binary
    assert binary is not None
    return base64.b64encode(subject.record.read(binary.data)).decode("ascii")


def _shown(record: Record, live: LiveRegisters) -> LiveRegisters:
    """Leave out other kernels of the binary, which the stage does not show."""
    stage = record.result.stages.get("sass")
    shown = section_names(record.text(stage.text)) if stage else set()
    instructions = tuple(each for each in live.instructions if each.function in shown)
    return dataclasses.replace(live, instructions=instructions) if instructions else live


def _named(live: LiveRegisters, kernel: str) -> int | None:
    if not live.instructions:
        return None
    counts = {each.function: each.general for each in live.named}
    return counts.get(kernel, max(counts.values(), default=0))


def _instructions(record: Record, live: LiveRegisters) -> list[Instruction]:
    """Join live registers and the lines of the stage, by function and address."""
    stage = record.stage("sass")
    lines = source_lines(record, stage)
    names = {each.function for each in live.instructions}
    functions = places_by_function(record.text(stage.text), names)
    places = {name: places_of(functions, name) for name in names}
    return [
        _instruction(each, places[each.function].get(each.address, Place(0, "")), lines)
        for each in live.instructions
    ]


def _instruction(live: LiveAt, place: Place, lines: list[int]) -> Instruction:
    line = place.line
    return Instruction(
        live.function,
        live.address,
        line,
        lines[line - 1] if 0 < line <= len(lines) else 0,
        live.general,
        live.uniform,
        live.predicate,
        live.uniform_predicate,
        _SPILLS.get(place.opcode, ""),
    )


def _limit(record: Record, target: Target) -> tuple[int, str]:
    """Return the register limit of a thread, and its source."""
    most = target.device.multiprocessor.registers_per_thread
    stage = record.result.stages.get("ptx")
    asked = register_limit(record.text(stage.text)) if stage else None
    return (most, "the hardware") if asked is None else (asked, ".maxnreg of the PTX")


def _hands_over(record: Record) -> bool:
    """Return whether warps exchange registers while the kernel runs."""
    stage = record.result.stages.get("sass")
    return stage is not None and "USETMAXREG" in record.text(stage.text)


def _difference(most: int | None, named: int | None, taken: int | None, *, hands_over: bool) -> str:
    """Explain why the assembler allocates more registers than are alive at any instruction."""
    if most is None or named is None or taken is None:
        return ""
    parts = []
    if named > most:
        why = (
            "warps exchange registers (USETMAXREG), and each warp numbers its own"
            if hands_over
            else "values of 64 or more bits need consecutive, aligned registers"
        )
        parts.append(f"{named - most} because {why}: the highest is R{named - 1}")
    unnamed = taken - named
    if unnamed >= _UNNAMED:
        parts.append(f"{_UNNAMED} that the assembler reserves since Volta and no instruction names")
        unnamed -= _UNNAMED
    if unnamed > 0:
        parts.append(f"{unnamed} by rounding up, or requested by the kernel")
    return "; ".join(parts)


def _facts(record: Record) -> list[Fact]:
    stage = record.result.stages.get("amdgcn")
    if stage is None:
        return []
    return amd_facts(record.text(stage.raw or stage.text))


QUERY = Query(
    name="registers",
    summary="Live registers at each instruction of the machine code, spills, and limits.",
    version=9,
    document=RegistersDocument,
    find=_find,
)
