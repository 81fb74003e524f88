"""Divisions of integers in 64 bits: no GPU has an instruction for them, so that each takes many."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from explorer.analysis.assembly.operations import operation_lines
from explorer.analysis.mlir.divisions import WideDivision, wide_divisions
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import line_changes
from explorer.queries.findings.finding import Cost, Finding, Value
from explorer.queries.why_facts import code, counted, listed

TITLE = "64-bit divisions in loops"


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each source line that divides in 64 bits in a loop, unless its numbers need them.

    Measured on an H200: outside of loops, the accesses to memory take longer than the divisions.
    """
    all_divisions = wide_divisions(case.functions, case.launch_values)
    found = sorted(all_divisions, key=lambda each: case.source_line(each.line))
    for line, group in groupby(found, lambda each: case.source_line(each.line)):
        divisions = [each for each in group if case.in_loop(each.line)]
        lines = case.machine_lines([line])
        is_needed = any(each.needs_64_bits for each in divisions)
        # The compiler removes divisions whose results cancel out.
        if divisions and not is_needed and (lines or not case.machine_code):
            yield _finding(case, line, divisions, lines)


def _finding(
    case: Case, line: int, divisions: list[WideDivision], lines: tuple[tuple[int, int], ...]
) -> Finding:
    instructions, total = _instructions(case, lines)
    operations = listed(code(each.operation) for each in divisions)
    largest = [each.largest for each in divisions if each.largest]
    is_narrow = len(largest) == len(divisions)
    edit = None
    if is_narrow and all(each.operation.endswith("si") for each in divisions):
        arguments = case.result.specialized.arguments if case.result.specialized else ()
        edit = case.editable.in_32_bits(line, {each.name for each in arguments if each.type == "constexpr"})
    return Finding(
        rule="wide_divisions",
        severity="warning",
        text=f"Each turn of the loop divides in 64 bits ({operations})"
        + (
            f": {instructions:,} of {counted(total, 'instruction')} come from the line."
            if instructions
            else "."
        ),
        evidence=(
            *((Value("instructions of the line", instructions, "", "observed"),) if instructions else ()),
            *(
                (
                    Value("largest dividend at these sizes", max(one for one, _ in largest), "", "modelled"),
                    Value("largest divisor at these sizes", max(one for _, one in largest), "", "modelled"),
                )
                if is_narrow
                else ()
            ),
        ),
        cause=_cause(case, divisions),
        advice=("At the sizes of this launch, the numbers fit into 32 bits. " if is_narrow else "")
        + "If they fit in every launch, divide in 32 bits, and convert the result: "
        "`(tl.cast(a, tl.int32) // tl.cast(b, tl.int32)).to(tl.int64)`.",
        source_line=line,
        ttgir_line=divisions[0].line,
        lines=lines,
        cost=Cost(instructions / total, "instructions", "observed") if instructions else None,
        changes=line_changes([edit], "divide in 32 bits, which must fit in every launch"),
    )


def _instructions(case: Case, lines: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """Return the number of instructions in ranges of lines of the machine code, and in all lines."""
    if not lines:
        return 0, 0
    stage = case.record.stage(case.machine_code)
    are_instructions = operation_lines(case.record.text(stage.text).split("\n"), stage.language)
    return sum(sum(are_instructions[first - 1 : last]) for first, last in lines), sum(are_instructions)


def _cause(case: Case, divisions: list[WideDivision]) -> str:
    """Return what makes an operand 64 bits wide; "" if it is neither an argument nor a conversion."""
    names = dict.fromkeys(name for each in divisions for name in each.arguments)
    if names:
        kind = "is an argument" if len(names) == 1 else "are arguments"
        return f"{listed(map(code, names))} {kind} of 64 bits."
    texts = case.record.source_numbers.texts
    for each in divisions:
        for line in map(case.source_line, each.extensions):
            if 0 < line <= len(texts) and "int64" in texts[line - 1]:
                return f"Line {line} converts an operand to 64 bits."
    return ""
