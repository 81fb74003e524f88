"""Why an access on an AMD GPU is a buffer operation or is none, and whether an atomic operation is a loop."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.assembly.atomics import atomic_instructions, is_compare_and_swap, loop_reason
from explorer.analysis.memory.buffer_operations import buffer_statement, makes_buffer_operations
from explorer.analysis.mlir.operations import read_functions
from explorer.analysis.mlir.texts import atomic_operations
from explorer.model.hardware import find_target
from explorer.queries.lineage import LineageDocument, OperationLine
from explorer.queries.why_facts import WhyFact, WhyLink, code, listed
from explorer.store import Record

_MACHINE_CODE = ("sass", "amdgcn")


def access_facts(record: Record, document: LineageDocument, rows: list[OperationLine]) -> Iterator[WhyFact]:
    """Yield facts about accesses to global memory. `rows` are operations of TTGIR."""
    if find_target(record.request.target).backend == "hip":
        yield from _buffer(record, rows)
    if any(row.operation.endswith("atomic_rmw") for row in rows):
        yield from _atomic(record, document, {row.line for row in rows})


def _buffer(record: Record, rows: list[OperationLine]) -> Iterator[WhyFact]:
    text = record.text(record.stage("ttgir").text)
    has_pass = any(makes_buffer_operations(each.name) for each in record.result.passes.values())
    for row in rows[:1]:
        if statement := buffer_statement(text, row.line, has_pass=has_pass):
            yield WhyFact(
                statement, "modelled", "the rule of the pass, and the attributes of the arguments in TTGIR"
            )


def _atomic(record: Record, document: LineageDocument, ttgir_lines: set[int]) -> Iterator[WhyFact]:
    for found in document.instructions:
        if found.stage not in _MACHINE_CODE or not found.is_equal:
            continue
        lines = record.text(record.stage(found.stage).text).split("\n")
        atomics = atomic_instructions(lines[number - 1] for number in found.lines)
        if not atomics:
            continue
        loops = [name for name in atomics if is_compare_and_swap(name)]
        names = listed(map(code, loops or atomics))
        text = (
            f"It is a loop of compare-and-swap ({names}): each lane repeats it until no other has changed "
            "the value in between."
            if loops
            else f"The target has an instruction for it: {names}. It is no loop of compare-and-swap."
        )
        number = next(n for n in found.lines if any(name in lines[n - 1] for name in loops or atomics))
        link = WhyLink(f"{found.title}, line {number}", found.stage, None, number)
        yield WhyFact(text, "observed", "the machine code with its location", (link,))
        if loops:
            yield from _loop_reasons(record, ttgir_lines)


def _loop_reasons(record: Record, ttgir_lines: set[int]) -> Iterator[WhyFact]:
    architecture = find_target(record.request.target).architecture
    functions = read_functions(record.text(record.stage("ttgir").text))
    atomics = (each for each in atomic_operations(functions) if each.line in ttgir_lines)
    for text in dict.fromkeys(loop_reason(architecture, *each[1:]) for each in atomics):
        if text:
            yield WhyFact(text, "modelled", "the rules of LLVM and ptxas for the target's instructions")
