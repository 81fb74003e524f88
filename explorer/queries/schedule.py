"""The queries for the schedule of pipelined loops: its stages, and the lines that its operations come from.

The second query uses the lineage of the operations, which compiles the kernel a second time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

import msgspec

from explorer.analysis.pipelining import Loop, ScheduledOperation, read_loops
from explorer.documents.lines import shortened
from explorer.errors import NotAnswerable
from explorer.queries.lineage import OperationLines, follow_operations
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.store import Record

#: The passes that pipeline loops, of NVIDIA and of AMD.
_PIPELINERS = ("tritongpu-pipeline", "tritonamdgpu-pipeline")
#: A part of the names of operations that are made from loads.
_COPY = "copy_global_to_local"
_MOST_LOOPS = 50
#: First and last lines of loops.
Spans = Sequence[tuple[int, int]]
_MOST_OPERATIONS = 500


class ScheduledLoop(msgspec.Struct, frozen=True):
    """A loop. Stages are numbered from 0 to `last_stage`, which is the number of turns of its prologue.

    A loop with a `last_stage` of 0 is not pipelined, and `reason` says why. `partition` is the part of a
    warp-specialized kernel that contains it. `depth` counts the loops around it. `num_stages` is the
    attribute of the loop. `iterations` is null unless its bounds are constants. At most 500 of
    `total_operations` are listed; `unscheduled` operations of its body have no schedule. `loads` counts the
    loads of its body, which could start ahead if it `is_innermost`; `chained_loads` of them could not, since
    they need a value that the turn before loads. A turn that executes `waiting_loads` uses their values,
    which are `waiting_bytes` of the `loaded_bytes` of the loads. `has_matrix_product` says whether a `tl.dot`
    uses them.
    """

    line: int
    text: str
    depth: int
    partition: str
    last_stage: int
    operations: list[ScheduledOperation]
    total_operations: int
    unscheduled: int
    num_stages: int | None
    iterations: int | None
    reason: str
    loads: int
    chained_loads: int
    waiting_loads: int
    waiting_bytes: int
    loaded_bytes: int
    is_innermost: bool
    has_matrix_product: bool


class ScheduleDocument(msgspec.Struct, frozen=True):
    """The loops of the module before the pass `pipelined_by`, which follows the pass `pass_index`.

    `num_stages` is the option of the compilation. At most 50 of `total_loops` are listed.
    """

    pass_index: int
    scheduled_by: str
    pipelined_by: int
    num_stages: int | None
    loops: list[ScheduledLoop]
    total_loops: int


class MadeOperations(msgspec.Struct, frozen=True):
    """The numbers of operations of a name made from an operation: before, in and after the pipelined loop."""

    operation: str
    before: int
    inside: int
    after: int


class OperationOrigin(msgspec.Struct, frozen=True):
    """The origin of a loop or of an operation in it, and the operations made from it.

    `line` is the line of `ScheduledLoop` or `ScheduledOperation`. `source_text` is the first source line.
    `made` counts operations of the module after the pipelining pass. `ttgir_lines` are lines of the stage
    TTGIR, lines in the loop first.
    """

    line: int
    source_text: str
    source_lines: list[int]
    ttgir_lines: list[int]
    made: list[MadeOperations]


def _find(subject: Subject) -> ScheduleDocument:
    record = subject.record
    pipeliner = _pipeliner(record)
    before = _last_change(record, pipeliner)
    options = record.result.specialized.options if record.result.specialized else {}
    stages = options.get("num_stages")
    num_stages = stages if isinstance(stages, int) and not isinstance(stages, bool) else None
    text = record.text_before_pass(pipeliner)
    lines = text.split("\n")
    loops = read_loops(text)
    return ScheduleDocument(
        pass_index=before,
        scheduled_by=record.compiler_pass(before).name,
        pipelined_by=pipeliner,
        num_stages=num_stages,
        loops=[_document(loop, lines, num_stages) for loop in loops[:_MOST_LOOPS]],
        total_loops=len(loops),
    )


def _pipeliner(record: Record) -> int:
    """Return the index of the pass that pipelines loops."""
    found = [index for index, entry in record.result.passes.items() if entry.name in _PIPELINERS]
    if found:
        return max(found)
    specialized = record.result.specialized
    if specialized is not None and specialized.language == "gluon":
        raise NotAnswerable(
            "The compiler pipelines no loop of a Gluon kernel: the kernel itself says what starts ahead."
        )
    raise NotAnswerable(
        "The compilation has no pass that pipelines loops: it failed before, or began with a later stage. "
        "See the log."
    )


def _last_change(record: Record, end: int) -> int:
    """Return the last pass before `end` that changed the module."""
    return max(
        (index for index, entry in record.result.passes.items() if index < end and entry.text is not None),
        default=0,
    )


def _document(loop: Loop, lines: Sequence[str], num_stages: int | None) -> ScheduledLoop:
    return ScheduledLoop(
        line=loop.line,
        text=shortened(lines[loop.line - 1].strip()),
        depth=loop.depth,
        partition=loop.partition,
        last_stage=loop.last_stage,
        operations=[replace(each, text=shortened(each.text)) for each in loop.operations[:_MOST_OPERATIONS]],
        total_operations=len(loop.operations),
        unscheduled=loop.unscheduled,
        num_stages=loop.num_stages,
        iterations=loop.iterations,
        reason="" if loop.last_stage else _reason(loop, num_stages),
        loads=loop.loads,
        chained_loads=loop.chained_loads,
        waiting_loads=loop.waiting_loads,
        waiting_bytes=loop.waiting_bytes,
        loaded_bytes=loop.loaded_bytes,
        is_innermost=not loop.has_inner_loop,
        has_matrix_product=loop.has_matrix_product,
    )


def _reason(loop: Loop, num_stages: int | None) -> str:
    """Explain why a loop is not pipelined.

    Source: AssignLatencies.cpp of Triton, LowerLoops.cpp of its AMD backend, 3.6 and 3.9.
    """
    stages = loop.num_stages if loop.num_stages is not None else num_stages
    if loop.operations:
        return "All its operations are in one stage, so none runs ahead of the others."
    if not loop.has_inner_loop and 0 < loop.loads == loop.chained_loads:
        name, its = ("Its load", "it needs") if loop.loads == 1 else ("None of its loads", "each needs")
        cannot = "cannot" if loop.loads == 1 else "can"
        return (
            f"{name} {cannot} start a turn ahead: {its} a value that the turn before loads, as for its "
            "address. No number of stages changes that."
        )
    if stages is not None and stages <= 1:
        return "It has `num_stages` of 1: no iteration starts ahead."
    if loop.has_inner_loop:
        return "It contains another loop. The compiler pipelines innermost loops only."
    if not loop.loads:
        return "It loads nothing that could start ahead."
    if loop.num_stages is None and not loop.has_matrix_product:
        return (
            "It has no matrix product and sets no `num_stages`. The compiler pipelines it only if it is "
            "written as `tl.range(…, num_stages=N)`."
        )
    return (
        "The compiler chose no load to start ahead: no matrix product uses the loaded data, or a thread "
        "loads fewer than 4 consecutive bytes."
    )


def _find_lines(subject: Subject) -> list[OperationOrigin]:
    record = subject.record
    pipeliner = _pipeliner(record)
    before = _last_change(record, pipeliner)
    loops = read_loops(record.text_before_pass(pipeliner))[:_MOST_LOOPS]
    lines = [
        line
        for loop in loops
        for line in (loop.line, *(each.line for each in islice(loop.operations, _MOST_OPERATIONS)))
    ]
    found = dict(zip(lines, follow_operations(subject, before, lines, pipeliner), strict=True))
    ends = _ends(record.text_after_pass(pipeliner))
    ttgir = record.result.stages.get("ttgir")
    final_ends = _ends(record.text(ttgir.text)) if ttgir else {}
    source = record.request.source.split("\n")
    origins = []
    for loop in loops:
        way = found[loop.line]
        origins.append(
            OperationOrigin(
                loop.line, _text(source, way), way.source_lines, [line for line, _ in way.ttgir], []
            )
        )
        spans = [(line, ends[line]) for line, _ in way.after if line in ends]
        final_spans = [(line, final_ends[line]) for line, _ in way.ttgir if line in final_ends]
        for each in loop.operations[:_MOST_OPERATIONS]:
            way = found[each.line]
            ttgir_lines = _in_order(way.ttgir, each.operation, final_spans)
            made = _made(way.after, spans)
            origins.append(
                OperationOrigin(each.line, _text(source, way), way.source_lines, ttgir_lines, made)
            )
    return origins


def _text(source: Sequence[str], way: OperationLines) -> str:
    line = way.source_lines[0] if way.source_lines else 0
    return shortened(source[line - 1].strip()) if 0 < line <= len(source) else ""


def _ends(text: str) -> dict[int, int]:
    """Return the last line of each loop by its first line."""
    return {loop.line: loop.end_line for loop in read_loops(text)}


def _in_order(found: Iterable[tuple[int, str]], name: str, spans: Spans) -> list[int]:
    """Return lines of operations: first lines in loops, among them first the copy or the name."""
    is_other = {line: made != name and _COPY not in made for line, made in found}
    return sorted(is_other, key=lambda line: (not _is_in(line, spans), is_other[line], line))


def _is_in(line: int, spans: Spans) -> bool:
    return any(first < line <= last for first, last in spans)


def _made(after: Iterable[tuple[int, str]], spans: Spans) -> list[MadeOperations]:
    """Count operations, given as lines with names, before, in and after loops from line to line."""
    if not spans:
        return []
    counts: dict[str, Counter[str]] = {}
    for line, name in after:
        place = "inside" if _is_in(line, spans) else "before" if line < spans[0][0] else "after"
        counts.setdefault(name, Counter())[place] += 1
    return [
        MadeOperations(name, count["before"], count["inside"], count["after"])
        for name, count in counts.items()
    ]


QUERY = Query(
    name="schedule",
    summary="The schedule of pipelined loops: the stage of each operation, and why a loop has none.",
    version=4,
    document=ScheduleDocument,
    find=_find,
)

LINES = Query(
    name="schedule_lines",
    summary="The source lines of scheduled operations, and how often each is before, in and after the loop.",
    version=1,
    document=list[OperationOrigin],
    find=_find_lines,
    saved=nothing_saved,  # compiles the kernel a second time
)
