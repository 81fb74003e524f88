"""The reader of the basic blocks of LLVM IR."""

from __future__ import annotations

import re

from explorer.analysis.graphs.blocks import Exit, Function, Instruction, Jump, Label, cut_into_blocks

_NAME = r'(?:[\w$.-]++|"[^"]*+")'
_DEFINITION = re.compile(rf"define\b[^@]*+@({_NAME})")
_LABEL = re.compile(rf"({_NAME}):")
_TARGET = re.compile(rf"label %({_NAME})")
_CASE = re.compile(rf"\w++ (-?\w++), label %({_NAME})")
_OPCODE = re.compile(rf"(?:%{_NAME} = )?+(\w++)")
_ATTRIBUTES = re.compile(r" #\d++$")


def read(text: str) -> list[Function]:
    """Read the functions that have a body."""
    functions: list[Function] = []
    name, first_line = "", 0
    items: list[Label | Instruction] = []
    lines = iter(enumerate(text.split("\n"), 1))
    for number, line in lines:
        if not name:
            definition = _DEFINITION.match(line)
            if definition and line.rstrip().endswith("{"):
                name, first_line, items = definition[1].strip('"'), number, []
            continue
        if line.startswith("}"):
            functions.append(cut_into_blocks(name, first_line, items))
            name = ""
            continue
        label = _LABEL.match(line)
        if label:
            items.append(Label(number, label[1]))
            continue
        code = _without_comment(line).strip()
        if not code or code.startswith(";"):
            continue
        if code.endswith("[") and "switch " in code:
            for _, more in lines:
                code += " " + more.strip()
                if more.lstrip().startswith("]"):
                    break
        items.append(Instruction(number, _ATTRIBUTES.sub("", code.split(", !", 1)[0]), _exit(code)))
    if name:  # the text ends in the middle
        functions.append(cut_into_blocks(name, first_line, items))
    return functions


def _without_comment(line: str) -> str:
    code, semicolon, comment = line.partition(" ;")
    return code if semicolon and '"' not in comment else line


def _exit(code: str) -> Exit | None:
    opcode = _OPCODE.match(code)
    match opcode and opcode[1]:
        case "br":
            targets = _TARGET.findall(code)
            if len(targets) < 2:
                return Exit(tuple(map(Jump, targets)))
            condition = code.split(",", 1)[0].split()[-1]
            return Exit((Jump(targets[0], condition), Jump(targets[1], f"!{condition}")))
        case "switch":
            default, _, cases = code.partition("[")
            jumps = [Jump(target, value) for value, target in _CASE.findall(cases)]
            return Exit((*jumps, *(Jump(target, "else") for target in _TARGET.findall(default))))
        case "invoke" | "callbr" | "indirectbr" | "catchswitch" | "catchret" | "cleanupret":
            return Exit(tuple(map(Jump, _TARGET.findall(code))))
        case "ret" | "unreachable" | "resume":
            return Exit()
    return None
