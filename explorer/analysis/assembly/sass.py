"""The instructions of SASS by function and address, and the functions that a text contains."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

_INSTRUCTION = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?\w+\s+)?([A-Z]\w*)")
_FUNCTION = re.compile(r"^([^.\s][^\s:]*):$")
_SECTION = re.compile(r"^\.text\.(\S+):$", re.MULTILINE)


class Place(NamedTuple):
    """The line of an instruction, from 1, and its opcode without modifiers."""

    line: int
    opcode: str


def places_by_function(sass: str, names: Collection[str] | None = None) -> dict[str, dict[int, Place]]:
    """Return the instructions of each function by address; those before the first label belong to "".

    `names` are the labels that begin a function; None: each label does. A function contains the labels of
    subroutines that the assembler adds, such as divisions.
    """
    functions: dict[str, dict[int, Place]] = {}
    current = functions.setdefault("", {})
    for number, text in enumerate(sass.splitlines(), 1):
        if found := _INSTRUCTION.search(text):
            current.setdefault(int(found[1], 16), Place(number, found[2]))
        elif (label := _FUNCTION.match(text)) and (names is None or label[1] in names):
            current = functions.setdefault(label[1], {})
    return functions


def places_of(functions: Mapping[str, dict[int, Place]], kernel: str) -> dict[int, Place]:
    """Return the instructions of a kernel by address; of the first function if none has its name."""
    first = next((found for found in functions.values() if found), {})
    return functions.get(kernel, first)


def section_names(sass: str) -> set[str]:
    """Return the functions that have a section in the text."""
    return set(_SECTION.findall(sass))
