"""The reader of the basic blocks of SASS, as the stage shows it: control code, address, instruction."""

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

_LABEL = re.compile(r"([.\w$]++):\s*+$")
_INSTRUCTION = re.compile(r"[^/\n]*+/\*[0-9a-f]++\*/\s++([^;]*+);")
_PARTS = re.compile(r"(?:@(!?+U?P[0-9T]++)\s++)?+([A-Z][\w.]*+)\s*+(.*+)")
_TARGET = re.compile(r"(\.L[\w$]++)")
_CALLED = re.compile(r"`\(([\w$.]++)\)")
_CONDITION = re.compile(r"!?+U?P\d\b|\bUR\d++\b")
_BRANCHES = {"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU"}


def read(text: str) -> list[Function]:
    """Read the functions; a label that is not the label of a block starts a function."""
    return cut_functions(_parts(text))


def _parts(text: str) -> Iterator[Part]:
    name, first_line = "", 0
    items: list[Label | Instruction] = []

    for number, line in enumerate(text.split("\n"), 1):
        label = _LABEL.match(line)
        if label:
            if label[1].startswith(".L"):
                items.append(Label(number, label[1]))
            else:
                yield name, first_line, items
                name, first_line, items = label[1].removeprefix(".text."), number, []
            continue
        instruction = _INSTRUCTION.match(line)
        if instruction:
            items.append(_instruction(number, instruction[1].strip()))
    yield name, first_line, items


def _instruction(number: int, text: str) -> Instruction:
    parts = _PARTS.match(text)
    if parts is None:
        return Instruction(number, text)
    guard, opcode, operands = parts.groups()
    if guard in ("PT", "UPT"):
        guard = None
    kind = opcode.split(".", 1)[0]
    if kind in _BRANCHES:
        return Instruction(number, text, _branch(guard, opcode, operands))
    if kind in ("EXIT", "RET", "KILL"):
        return Instruction(number, text, Exit((), opposite(guard) if guard else None))
    if kind == "CALL":
        called = _CALLED.search(operands)
        name = called[1].removeprefix(".text.") if called else ""
        if name.startswith(".L"):  # most often code of the same function, placed separately
            jump = Jump(name, guard or "call")
            return Instruction(number, text, Exit((jump,), opposite(guard) if guard else ""), name)
        return Instruction(number, text, None, name)
    return Instruction(number, text)


def _branch(guard: str | None, opcode: str, operands: str) -> Exit:
    targets = list(dict.fromkeys(_TARGET.findall(operands)))
    # "BRA.U UP0, `(.L_x_1)" and "BRA.DIV UR4, `(.L_x_1)" have their condition as an operand.
    before = operands.split("`", 1)[0] if opcode.startswith("BRA") else ""
    conditions = [guard] if guard else []
    conditions += [each for each in _CONDITION.findall(before) if each not in ("PT", "UPT")]
    if ".DIV" in opcode or ".CONV" in opcode:
        conditions = [f"{each} {opcode.split('.')[1].lower()}" for each in conditions]
    condition = " & ".join(conditions)
    otherwise = None if not condition else opposite(condition) if len(conditions) == 1 else f"!({condition})"
    return Exit(tuple(Jump(target, condition) for target in targets), otherwise)
