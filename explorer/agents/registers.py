"""Live registers of the machine code, and spills."""

from __future__ import annotations

import msgspec

from explorer.agents.api import Api, document, get
from explorer.agents.tool import First, Id, Lines, page_from
from explorer.analysis.assembly.stated_registers import Fact
from explorer.documents import shortened
from explorer.queries.registers import Instruction, RegistersDocument


class LiveInstruction(msgspec.Struct, frozen=True):
    """An instruction with its live general registers. `spill` is "store" or "load" if it spills."""

    line: int
    source_line: int
    live: int
    spill: str
    text: str


class Registers(msgspec.Struct, frozen=True):
    """Registers of a thread, and the instructions, sorted by live registers in descending order.

    `registers` is the number that the assembler allocated, `limit` the maximum of a thread. Without
    instructions, `reason` says why.
    """

    registers: int | None
    most_live: int | None
    difference: str
    limit: int
    limited_by: str
    spill_stores_bytes: int | None
    spill_loads_bytes: int | None
    instructions: list[LiveInstruction]
    total: int
    facts: list[Fact]
    reason: str
    next: str


async def live_registers(api: Api, compilation: Id, only_spills: bool = False, first: First = 0) -> Registers:
    """Return the registers, and the instructions with the most live registers, or only the spilling ones."""
    found = await document(api, f"/compilations/{compilation}/registers", RegistersDocument)
    wanted = [each for each in found.instructions if each.spill or not only_spills]
    wanted.sort(key=lambda each: -each.general)
    texts = await get(api, f"/compilations/{compilation}/stages/sass", Lines) if wanted else ()

    def row(each: Instruction) -> LiveInstruction:
        text = texts[each.line - 1].strip() if 0 < each.line <= len(texts) else ""
        return LiveInstruction(each.line, each.source_line, each.general, each.spill, shortened(text))

    rows, left = page_from(map(row, wanted), len(wanted), first, "live_registers")
    return Registers(
        found.registers,
        found.most_general,
        found.difference,
        found.limit,
        found.limited_by,
        found.spill_stores_bytes,
        found.spill_loads_bytes,
        rows,
        len(wanted),
        found.facts,
        found.reason,
        left or "Call follow_operation with stage=sass and the line of an instruction.",
    )
