"""Live registers along the machine code, with the limit."""

from __future__ import annotations

import base64

import msgspec

from explorer.analyses.analysis import Analysis, Subject
from explorer.errors import NotAnswerable
from explorer.pipeline.questions.registers import LiveAt, LiveRegisters


class RegistersDocument(msgspec.Struct, frozen=True):
    """Live registers by instruction, the most general ones at any, and those that the assembler took."""

    instructions: tuple[LiveAt, ...]
    most_general: int
    registers: int | None


def _find(subject: Subject) -> RegistersDocument:
    result = subject.record.result
    if result.binary is None:
        raise NotAnswerable("The compilation has no binary: see its messages.")
    data = subject.record.read(result.binary.data)
    live = subject.ask("registers", base64.b64encode(data).decode("ascii"), LiveRegisters)
    return RegistersDocument(
        live.instructions,
        max(each.general for each in live.instructions),
        result.resources.registers if result.resources else None,
    )


ANALYSIS = Analysis(
    name="registers",
    summary="Live registers at each instruction of the machine code.",
    version=1,
    document=RegistersDocument,
    find=_find,
)
