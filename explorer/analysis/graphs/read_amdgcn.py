"""The reader of the basic blocks of AMDGCN assembly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.analysis.graphs.blocks import (
    Exit,
    Function,
    Instruction,
    Jump,
    Label,
    Part,
    cut_functions,
    opposite,
)

_TYPE = re.compile(r"\s*+\.type\s++([\w$.]++),\s*+@function")
_LABEL = re.compile(r"([\w$.]++):")
_INSTRUCTION = re.compile(r"\s++([a-z]\w*+)\b(.*+)")


def read(text: str) -> list[Function]:
    """Read what the assembly declares as functions."""
    return cut_functions(_parts(text))


def _parts(text: str) -> Iterator[Part]:
    declared: set[str] = set()
    name, first_line = "", 0
    items: list[Label | Instruction] = []

    for number, line in enumerate(text.split("\n"), 1):
        kind = _TYPE.match(line)
        if kind:
            declared.add(kind[1])
            continue
        label = _LABEL.match(line)
        if label and (label[1] in declared or label[1].startswith(".Lfunc_end")):
            yield name, first_line, items
            name, first_line, items = ("" if label[1][0] == "." else label[1]), number, []
        elif not name:
            continue
        elif label:
            items.append(Label(number, label[1]))
        else:
            instruction = _INSTRUCTION.match(line.split(";", 1)[0].rstrip())
            if instruction:
                items.append(_instruction(number, instruction[1], instruction[2].strip()))
    yield name, first_line, items


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
