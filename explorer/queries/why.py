"""The query for why an element exists: an operation, a conversion, a buffer, a barrier, an instruction.

The answer puts the answers of other queries into words: `lineage`, `layouts`, `allocation` and `registers`.
Each statement names its origin: the compiler, a model of the compiler's rules, or a conclusion from
locations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from explorer.analysis.assembly.attribution import contradiction, is_access_of
from explorer.analysis.assembly.barriers import STAGES_OF_INSTRUCTIONS, is_barrier
from explorer.analysis.mlir.operations import operation_name
from explorer.errors import NotAnswerable
from explorer.glossary import TourMention, find_term
from explorer.queries import allocation, lineage
from explorer.queries.lineage import LineageDocument, OperationLine
from explorer.queries.query import Parameter, Query, Subject, nothing_saved
from explorer.queries.why_accesses import access_facts
from explorer.queries.why_conversions import CONVERSION, conversion_facts
from explorer.queries.why_facts import WhyFact, WhyLink, code, listed, listed_lines
from explorer.queries.why_memory import (
    Citations,
    barrier_facts,
    buffer_facts,
    buffers_at,
    fence_facts,
    places_of,
    wait_facts,
)
from explorer.queries.why_passes import way_facts
from explorer.queries.why_registers import peak_facts
from explorer.store import Record
from explorer.tours import load_tours

WhyKind = Literal["operation", "conversion", "buffer", "barrier", "registers", "instruction"]
_TTGIR = "ttgir"
_MACHINE_CODE = ("sass", "amdgcn")
_FENCE = "ttng.fence_async_shared"

#: The terms of the glossary that an answer is about.
_TERMS: Mapping[WhyKind, tuple[str, ...]] = {
    "operation": ("operation", "pass", "lineage"),
    "conversion": ("conversion", "layout", "shuffle"),
    "buffer": ("buffer", "shared-memory", "slot"),
    "barrier": ("barrier", "hazard", "shared-memory"),
    "registers": ("live-register", "register-pressure", "occupancy"),
    "instruction": ("location", "lineage"),
}


class WhyTerm(msgspec.Struct, frozen=True):
    """A term of the glossary, by its name and its title."""

    name: str
    title: str


class WhyDocument(msgspec.Struct, frozen=True):
    """Why an element exists. `facts` explain it, `way` leads from the source through the passes.

    `tours` are the steps of tours that teach it.
    """

    kind: WhyKind
    facts: list[WhyFact]
    way: list[WhyFact]
    terms: list[WhyTerm]
    tours: list[TourMention]


@dataclass(frozen=True)
class _Way:
    """The lineage of the line, with the operations of TTGIR and of the allocating module.

    Without a lineage, `problem` says why.
    """

    document: LineageDocument | None
    problem: str

    def lines_after(self, index: int) -> list[int]:
        """Return the lines of the operations in the module after a pass."""
        if self.document is None:
            return []
        step = next((each for each in reversed(self.document.steps) if each.index <= index), None)
        is_gone = self.document.removed_by is not None and self.document.removed_by <= index
        return [] if step is None or is_gone else [row.line for row in step.lines]

    def lines_of_stage(self, record: Record, stage: str) -> list[int]:
        indices = [index for index, entry in record.result.passes.items() if entry.stage == stage]
        return self.lines_after(max(indices)) if indices else []


def _find(subject: Subject) -> WhyDocument:
    record, given = subject.record, dict(subject.parameters)
    stage, line = given.get("stage", ""), int(given.get("line", "1"))
    text = _line_of(subject, stage, line)
    way = _way(subject, given)
    is_instruction = stage in STAGES_OF_INSTRUCTIONS
    if is_instruction:
        way = _possible(way, record, stage, text)
    kind: WhyKind = "instruction" if is_instruction else "operation"
    special: list[WhyFact] = []
    for kind_of_facts, found in _special(subject, way, stage, line, text):
        if found:
            kind, special = kind if special else kind_of_facts, [*special, *found]
    facts = [*special, *(_instruction(record, way, stage, kind) if is_instruction else ())]
    if way.document is not None and (is_instruction or stage == _TTGIR):
        facts += access_facts(record, way.document, way.document.steps[way.document.asked].lines)
    known = list(way_facts(record, way.document)) if way.document else []
    unknown = [WhyFact(way.problem, "inferred", "lineage")] if way.problem else []
    if unknown and stage in _MACHINE_CODE:
        unknown += _merged_accesses(subject, stage, text)
    return WhyDocument(kind, facts, [*known, *unknown], _terms(kind), _tours(kind, stage, text))


def _special(
    subject: Subject, way: _Way, stage: str, line: int, text: str
) -> Iterator[tuple[WhyKind, list[WhyFact]]]:
    record = subject.record
    is_module = stage not in STAGES_OF_INSTRUCTIONS
    if is_module and operation_name(text) == CONVERSION:
        given = subject.parameters
        place = {"stage": stage} if stage else {"pass": given.get("pass", "0")}
        yield "conversion", list(conversion_facts(subject, place, line, _module(subject, stage)))
    if is_module:
        yield "operation", list(wait_facts(text))
    if stage == "sass":
        yield "registers", list(peak_facts(subject, line, way.lines_of_stage(record, _TTGIR)))
    memory = _memory(subject)
    if memory is None or not memory.functions:
        return
    index = memory.functions[0].pass_index
    lines = way.lines_after(index)
    at = _citations(subject, memory, index)
    if is_barrier(text, stage):
        ordinal, count = _among(subject, stage, line) if lines and not is_module else (0, 1)
        inserts = allocation.barrier_pass(record)
        entry = None if inserts is None else record.result.passes[inserts]
        maker = WhyLink(entry.name, entry.stage, entry.index, 0) if entry else None
        yield "barrier", list(barrier_facts(memory.functions, lines, ordinal, count, maker, at))
    elif is_module and operation_name(text) == _FENCE:
        yield "operation", list(fence_facts(memory.functions, lines, at))
    elif is_module:
        found = buffers_at(memory.functions, lines)
        yield "buffer", [fact for each in found for fact in buffer_facts(*each, at)]


def _module(subject: Subject, stage: str) -> str:
    record = subject.record
    if stage:
        return record.text(record.stage(stage).text)
    return record.text_after_pass(int(subject.parameters.get("pass", "0")))


def _line_of(subject: Subject, stage: str, line: int) -> str:
    lines = _module(subject, stage).split("\n")
    return lines[line - 1] if 0 < line <= len(lines) else ""


def _way(subject: Subject, given: Mapping[str, str]) -> _Way:
    try:
        answer = subject.answer(lineage.QUERY, given)
    except NotAnswerable as error:
        return _Way(None, str(error))
    return _Way(msgspec.json.decode(answer, type=LineageDocument), "")


def _possible(way: _Way, record: Record, stage: str, text: str) -> _Way:
    """Leave out a lineage from operations that the instruction cannot come from."""
    if way.document is None or stage not in _MACHINE_CODE:
        return way
    language = record.stage(stage).language
    names = {row.operation for row in way.document.steps[way.document.asked].lines}
    reasons = {name: contradiction(text, language, name) for name in sorted(names)}
    if not reasons or not all(reasons.values()):
        return way
    named = listed(f"{code(name)}, which {reason}" for name, reason in reasons.items())
    return _Way(
        None,
        f"The operation of this instruction is unknown. Its line information names {named}: the compiler has "
        "given it the location of a neighbor that it was vectorized, merged or moved with.",
    )


def _merged_accesses(subject: Subject, stage: str, text: str) -> Iterator[WhyFact]:
    """Yield the accesses that an instruction without a location may come from."""
    try:
        lost = lineage.operations_without_instructions(subject, stage)
    except NotAnswerable:
        return
    language = subject.record.stage(stage).language
    rows = [(line, name) for line, name in lost if is_access_of(text, language, name)]
    if rows:
        names = listed(code(name) for _, name in rows)
        yield WhyFact(
            f"It may come from {names} in {listed_lines(line for line, _ in rows)} of TTGIR: no instruction "
            "has the location of these accesses.",
            "inferred",
            "the operations of TTGIR whose location no instruction has",
            tuple(WhyLink(f"TTGIR, line {line}", _TTGIR, None, line) for line, _ in rows[:3]),
        )


def _memory(subject: Subject) -> allocation.AllocationDocument | None:
    try:
        answer = subject.answer(allocation.QUERY, {})
    except NotAnswerable:
        return None
    return msgspec.json.decode(answer, type=allocation.AllocationDocument)


def _citations(subject: Subject, memory: allocation.AllocationDocument, index: int) -> Citations:
    entry = subject.record.result.passes[index]
    allocating = WhyLink(entry.name, entry.stage, index, 0)
    places = list(places_of(memory.functions))
    try:
        followed = lineage.follow_operations(subject, index, [each.line for each in places], index)
    except NotAnswerable:
        return Citations(allocating, {})
    rows = {
        place: [line for line, name in each.ttgir if name == place.operation]
        for place, each in zip(places, followed, strict=True)
    }
    return Citations(allocating, {place: lines[0] for place, lines in rows.items() if len(lines) == 1})


def _instruction(record: Record, way: _Way, stage: str, kind: WhyKind) -> Iterator[WhyFact]:
    """Yield the operation of TTGIR that an instruction comes from, or whose location a barrier has."""
    if way.document is None:
        return
    rows = way.document.steps[way.document.asked].lines
    title, names = record.stage(stage).title, _operations(rows)
    yield WhyFact(
        f"It has the location of {names} of TTGIR. What passes made and changed is that operation."
        if kind == "barrier"
        else f"This line of {title} comes from {names} of TTGIR.",
        "inferred",
        "line information: an instruction without a location has that of the one before it",
        tuple(WhyLink(f"TTGIR, line {row.line}", _TTGIR, None, row.line) for row in rows[:3]),
    )


def _operations(rows: Sequence[OperationLine]) -> str:
    names = dict.fromkeys(row.operation for row in rows)
    return " and ".join(code(name) for name in list(names)[:3]) or "an operation"


def _among(subject: Subject, stage: str, line: int) -> tuple[int, int]:
    """Return the position of a barrier among the barriers of its operations, and their number."""
    lines = _module(subject, stage).split("\n")
    origins = lineage.origins_of_lines(subject, stage)
    same = [
        number
        for number, (text, lines_of_one) in enumerate(zip(lines, origins, strict=False), 1)
        if lines_of_one == origins[line - 1] and is_barrier(text, stage)
    ]
    return (same.index(line), len(same)) if line in same else (0, 1)


def _terms(kind: WhyKind) -> list[WhyTerm]:
    found = map(find_term, _TERMS[kind])
    return [WhyTerm(term.name, term.title) for term in found if term is not None]


def _tours(kind: WhyKind, stage: str, text: str) -> list[TourMention]:
    """Return the steps that show a line of this kind, or else the first step that has the first term."""
    looking = [
        TourMention(tour.name, number, tour.title)
        for tour in load_tours()
        for number, step in enumerate(tour.steps, 1)
        if step.look_at.is_shown_by(stage, text)
    ]
    term = find_term(_TERMS[kind][0])
    mentions = list(term.tours) if term and kind not in ("operation", "instruction") else []
    found = {mention.tour: mention for mention in reversed([*mentions, *looking])}
    return sorted(found.values(), key=lambda each: (each.tour, each.step))[:3]


QUERY = Query(
    name="why",
    summary="Why an operation, buffer, barrier or instruction exists, in words, with the origin of facts.",
    version=8,
    document=WhyDocument,
    find=_find,
    parameters=(
        Parameter("pass", int, "Index of the pass (0 when left out)."),
        Parameter("line", int, "Line of the module after the pass (1 when left out)."),
        Parameter("stage", str, "The line belongs to this stage, in place of a pass."),
    ),
    saved=nothing_saved,  # one for each line of each stage
)
