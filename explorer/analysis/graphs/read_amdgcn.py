"""The blocks of AMDGCN assembly."""

from __future__ import annotations

import re

from explorer.analysis.graphs.blocks import (
    Exit,
    Function,
    Instruction,
    Jump,
    Label,
    cut_into_blocks,
    opposite,
)

_TYPE = re.compile(r"\s*+\.type\s++([\w$.]++),\s*+@function")
_LABEL = re.compile(r"([\w$.]++):")
_INSTRUCTION = re.compile(r"\s++([a-z]\w*+)\b(.*+)")


def read(text: str) -> list[Function]:
    """Read what the assembly declares as functions."""
    functions: list[Function] = []
    declared: set[str] = set()
    name, first_line = "", 0
    items: list[Label | Instruction] = []

    def finish() -> None:
        function = cut_into_blocks(name, first_line, items)
        if function.blocks:
            functions.append(function)

    for number, line in enumerate(text.split("\n"), 1):
        kind = _TYPE.match(line)
        if kind:
            declared.add(kind[1])
            continue
        label = _LABEL.match(line)
        if label and (label[1] in declared or label[1].startswith(".Lfunc_end")):
            finish()
            name, first_line, items = ("" if label[1][0] == "." else label[1]), number, []
        elif not name:
            continue
        elif label:
            items.append(Label(number, label[1]))
        else:
            instruction = _INSTRUCTION.match(line.split(";", 1)[0].rstrip())
            if instruction:
                items.append(_instruction(number, instruction[1], instruction[2].strip()))
    finish()
    return functions


def _instruction(number: int, opcode: str, operands: str) -> Instruction:
    text = f"{opcode} {operands}".strip()
    if opcode == "s_branch":
        return Instruction(number, text, Exit((Jump(operands),)))
    if opcode.startswith("s_cbranch_"):
        condition = opcode.removeprefix("s_cbranch_")
        return Instruction(number, text, Exit((Jump(operands, condition),), opposite(condition)))
    if opcode.startswith(("s_endpgm", "s_setpc")):
        return Instruction(number, text, Exit())
    return Instruction(number, text)
