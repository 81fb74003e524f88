"""The query for the phases of mbarriers, and for the partitions that wait for them, in steps.

The operations and their counts are read from TTGIR. Their order is modeled.
"""

from __future__ import annotations

import msgspec

from explorer.analysis.mbarriers import (
    AssumedValue,
    Barrier,
    BarrierState,
    Execution,
    Finding,
    NotEvaluated,
    OperationInFlight,
    ThreadSpan,
    execute,
)
from explorer.analysis.mlir.operations import Operation, is_numbered, shown_name
from explorer.documents.lines import shortened
from explorer.errors import NotAnswerable
from explorer.queries.query import Query, Subject
from explorer.store import Record

_MOST_STEPS = 600
_MOST_BARRIERS = 200


class ThreadDocument(msgspec.Struct, frozen=True):
    """The warps that execute the same operations: all warps of a program, or the warps of a partition.

    `line` is the first line of their region.
    """

    title: str
    line: int
    num_warps: int
    spans: list[ThreadSpan]


class BarrierDocument(msgspec.Struct, frozen=True):
    """An mbarrier that is initialized with `count` arrivals in `line`.

    `allocation` is the line of its array. `filled` are the buffers whose copies arrive there,
    or the descriptors of these copies. `arrivers` and
    `waiters` are the titles of threads, or "copies" and "products". `completed_phases` counts all steps.
    """

    name: str
    allocation: int
    line: int
    count: int
    filled: list[str]
    arrivers: list[str]
    waiters: list[str]
    completed_phases: int
    states: list[BarrierState]
    end: int | None


class PhaseFinding(msgspec.Struct, frozen=True):
    """An error: a deadlock, or memory that is used too early. `other_line` may be 0."""

    kind: str
    line: int
    other_line: int
    text: str


class PhaseLine(msgspec.Struct, frozen=True):
    """A line of TTGIR with its operation, and the source lines that it comes from."""

    line: int
    operation: str
    text: str
    source_lines: list[int]


class BarrierPhasesDocument(msgspec.Struct, frozen=True):
    """An order of the actions of one program that its mbarriers permit, in `steps` steps.

    The first `recorded_steps` have states and spans. A step is not a time. `is_cut`: the execution stopped at
    the limit of steps. `lines` are the lines of TTGIR that the other members refer to. A kernel without
    mbarriers and partitions has no threads.
    """

    steps: int
    recorded_steps: int
    is_cut: bool
    threads: list[ThreadDocument]
    barriers: list[BarrierDocument]
    total_barriers: int
    in_flight: list[OperationInFlight]
    findings: list[PhaseFinding]
    assumed: tuple[AssumedValue, ...]
    lines: list[PhaseLine]


def _find(subject: Subject) -> BarrierPhasesDocument:
    record = subject.record
    if "ttgir" not in record.result.stages:
        raise NotAnswerable("The compilation has no TTGIR, so there are no mbarriers.")
    text = record.text(record.stage("ttgir").text)
    try:
        execution = execute(text, _arguments(record), _grid(record), _MOST_STEPS)
    except NotEvaluated as error:
        raise NotAnswerable(
            f"The phases are not evaluated, because of line {error.line} of TTGIR: {error}."
        ) from error
    if execution is None:
        return BarrierPhasesDocument(0, 0, False, [], [], 0, [], [], (), [])
    return _document(execution, record, text.split("\n"))


def _arguments(record: Record) -> dict[str, int]:
    """Return the integers that the launch passes, by the names of the parameters."""
    specialized = record.result.specialized
    arguments = specialized.arguments if specialized else ()
    return {each.name: int(each.value) for each in arguments if isinstance(each.value, int)}


def _grid(record: Record) -> dict[str, int]:
    specialized = record.result.specialized
    if specialized is None or specialized.grid is None:
        return {}
    return dict(zip("xyz", (*specialized.grid, 1, 1), strict=False))


def _document(execution: Execution, record: Record, lines: list[str]) -> BarrierPhasesDocument:
    threads = [
        ThreadDocument(each.title, each.line, each.num_warps, each.spans) for each in execution.threads
    ]
    barriers = [_barrier(each, execution) for each in execution.barriers[:_MOST_BARRIERS]]
    findings = [
        PhaseFinding(each.kind, each.line, each.other_line, _words(each, execution))
        for each in execution.findings
    ]
    used = {span.line for thread in threads for span in thread.spans}
    used |= {each.line for each in execution.in_flight}
    used |= {state.line for barrier in barriers for state in barrier.states}
    used |= {line for each in findings for line in (each.line, each.other_line)}
    used |= {each.line for each in threads} | {each.line for each in barriers}
    source_lines = record.source_lines(record.stage("ttgir"))
    return BarrierPhasesDocument(
        steps=execution.steps,
        recorded_steps=execution.recorded_steps,
        is_cut=execution.is_cut,
        threads=threads,
        barriers=barriers,
        total_barriers=len(execution.barriers),
        in_flight=execution.in_flight,
        findings=findings,
        assumed=execution.assumed,
        lines=[
            PhaseLine(
                line,
                execution.operations.get(line, ""),
                shortened(lines[line - 1].strip()),
                list(source_lines[line - 1]) if line <= len(source_lines) else [],
            )
            for line in sorted(used)
            if 0 < line <= len(lines)
        ],
    )


def _barrier(barrier: Barrier, execution: Execution) -> BarrierDocument:
    return BarrierDocument(
        name=execution.shown(barrier.memory),
        allocation=barrier.memory.root,
        line=barrier.line,
        count=barrier.count,
        filled=[_filled(execution.shown(memory), copy) for memory, copy in barrier.copied.items()],
        arrivers=list(barrier.arrivers),
        waiters=list(barrier.waiters),
        completed_phases=barrier.phase,
        states=barrier.states,
        end=barrier.end,
    )


def _filled(buffer: str, copy: Operation) -> str:
    """Return the name of a buffer, or, if that is a number, the name of the descriptor that fills it."""
    if is_numbered(buffer) and copy.operands:
        return shown_name(copy.operands[0])
    return buffer


def _words(finding: Finding, execution: Execution) -> str:
    """Describe an error in a sentence."""
    memory = execution.shown(finding.memory)
    if finding.kind == "deadlock" and finding.barrier is not None:
        barrier = execution.barriers[finding.barrier]
        due = f"{barrier.pending} of {barrier.count} arrivals"
        if barrier.bytes:
            due += f" and {barrier.bytes:,} bytes"
        return (
            f"{finding.thread} waits for {memory} with parity {finding.parity} without end. "
            f"Phase {barrier.phase} is not complete: {due} are due."
        )
    if finding.kind == "too many arrivals":
        return f"{finding.thread} arrives more often at {memory} than the phase expects."
    done = "reads" if finding.kind == "early read" else "writes"
    other = "writes" if finding.kind == "early read" else "uses"
    return (
        f"{finding.thread} {done} {memory} while the operation of line {finding.other_line} of TTGIR may "
        f"still be under way, which {other} it: no wait orders them."
    )


QUERY = Query(
    name="barrier_phases",
    summary="The phases of mbarriers and the waits of partitions, in an order that the mbarriers permit.",
    version=3,
    document=BarrierPhasesDocument,
    find=_find,
)
