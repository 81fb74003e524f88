"""Why the most registers are live at a line of SASS: the number of registers, and the tensors in them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from explorer.analysis.mlir.operations import find_operation
from explorer.errors import NotAnswerable
from explorer.queries import registers, tensor_registers
from explorer.queries.query import Subject
from explorer.queries.why_facts import WhyFact, WhyLink, code, counted, listed

_MOST_TENSORS = 5
_COMBINE = ("tt.reduce", "tt.scan")


def peak_facts(subject: Subject, line: int, ttgir_lines: list[int]) -> Iterator[WhyFact]:
    """Yield the live registers and tensors at a line of SASS, if the most registers are live there.

    `ttgir_lines` are the lines of TTGIR that the instruction comes from.
    """
    try:
        answer = subject.answer(registers.QUERY, {})
    except NotAnswerable:
        return
    document = msgspec.json.decode(answer, type=registers.RegistersDocument)
    here = next((each for each in document.instructions if each.line == line), None)
    if here is None or here.general != document.most_general:
        return
    allocated = (
        f" The assembler allocated {document.registers}: {document.difference}."
        if document.difference
        else ""
    )
    yield WhyFact(
        f"Here {counted(here.general, 'general register')} are live, the most anywhere.{allocated}",
        "observed",
        "nvdisasm and the assembler's report",
    )
    yield from tensor_facts(subject, ttgir_lines)


def _around(text: str, line: int) -> tuple[int, int]:
    """Return the lines around the operation of a line, or around the reduction that contains it."""
    found = find_operation(text, line)
    operation = found[1] if found else None
    while operation and operation.parent and operation.parent.name in _COMBINE:
        operation = operation.parent
    at = operation.line if operation else line
    return max(1, at - 1), at


def tensor_facts(subject: Subject, ttgir_lines: list[int]) -> Iterator[WhyFact]:
    """Yield the live tensors at the line among these lines of TTGIR where tensors need the most registers."""
    if not ttgir_lines:
        return
    answer = subject.answer(tensor_registers.QUERY, {})
    document = msgspec.json.decode(answer, type=tensor_registers.TensorRegistersDocument)
    text = subject.record.text(subject.record.stage("ttgir").text)
    lines = {place for number in ttgir_lines for place in _around(text, number)}
    line = max(sorted(lines), key=lambda number: document.pressure[number - 1])
    live = sorted(
        (each for each in document.tensors if each.first <= line < each.last and each.registers),
        key=lambda each: -each.registers,
    )
    if not live:
        return
    names = listed(f"{code(each.name)} ({each.type}: {each.registers})" for each in live[:_MOST_TENSORS])
    more = f" and {len(live) - _MOST_TENSORS} smaller ones" if len(live) > _MOST_TENSORS else ""
    yield WhyFact(
        f"After line {line} of TTGIR, tensors with {document.pressure[line - 1]} registers of a thread are "
        f"live: {names}{more}.",
        "modelled",
        "live ranges in TTGIR, elements by the compiler's layouts",
        tuple(
            WhyLink(f"{each.name}, TTGIR line {each.first}", "ttgir", None, each.first)
            for each in live[:_MOST_TENSORS]
        ),
    )
