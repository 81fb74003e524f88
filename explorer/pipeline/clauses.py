"""The locations of memory instructions in the clauses of AMD's RDNA GPUs.

LLVM puts memory instructions that follow each other into a clause, which begins with `s_clause`, and prints
one location for all of them: that of the first. A clause may have the loads of several operations. With a
limit of one instruction for each clause, LLVM makes no clauses, and prints the location of each instruction.
The code is the same otherwise, because clauses are made after all other decisions.

Source: SIInsertHardClauses.cpp and AMDGPUAsmPrinter of LLVM, as in Triton 3.6 and 3.9.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_CLAUSE = re.compile(r"^\s+s_clause\b")
_INSTRUCTION = re.compile(r"^\s+[a-z]")
_LOCATION = re.compile(r"^\s*\.loc\s")
_ATTRIBUTES = re.compile(r"^attributes #\d+ = \{", re.MULTILINE)
_LIMIT = ' "amdgpu-hard-clause-length-limit"="1"'


def with_locations_in_clauses(assembly: str, llvm_ir: str, translate: Callable[[str], str]) -> str:
    """Return assembly in which each instruction of a clause has its own location.

    `translate` makes assembly of LLVM IR. If its code differs without clauses, the assembly stays as it is.
    """
    if not any(map(_CLAUSE.match, assembly.splitlines())):
        return assembly
    located = list(_located(translate(_ATTRIBUTES.sub(lambda found: found[0] + _LIMIT, llvm_ir))))
    if [text for text, _ in _located(assembly)] != [text for text, _ in located]:
        return assembly
    locations = (location for _, location in located)
    lines: list[str] = []
    current = begun = ""
    for line in assembly.splitlines():
        if _LOCATION.match(line):
            continue
        if _INSTRUCTION.match(line):
            location, begun = begun or next(locations), ""
            if _CLAUSE.match(line):
                begun = location
            if location != current:
                lines.append(location)
                current = location
        lines.append(line)
    return "\n".join(lines) + "\n"


def _located(assembly: str) -> Iterator[tuple[str, str]]:
    """Yield each instruction, without the beginnings of clauses, with its location directive."""
    current = ""
    for line in assembly.splitlines():
        if _LOCATION.match(line):
            current = line
        elif _INSTRUCTION.match(line) and not _CLAUSE.match(line):
            yield line, current
