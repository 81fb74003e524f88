"""The line of a value through the passes: where an operation came from, and what became of it."""

from __future__ import annotations

import time
from functools import lru_cache

import msgspec

from explorer.analyses.analysis import Analysis, Parameter, Subject, nothing_saved
from explorer.analysis.diff import Alignment
from explorer.analysis.lineage import How, backward, forward
from explorer.errors import InvalidRequest, NotAnswerable
from explorer.store import Record

_ALIGNMENTS_IN_MEMORY = 64
#: What is longer, no kernel has; the alignments of many such modules would fill the memory.
_MOST_CHARACTERS = 2_000_000
_MOST_SECONDS = 20.0


class LineageStep(msgspec.Struct, frozen=True):
    """The operation in the module after pass `index`; `how` it differs from the step before it in the list.

    `line` is counted from 1. `how` is null at the first step: there the operation came into being.
    """

    index: int
    line: int
    text: str
    how: How | None


class LineageDocument(msgspec.Struct, frozen=True):
    """An operation through the passes that changed something, in order.

    `asked` is the position of the step that was asked about. `made_by` is the pass that made the
    operation, `removed_by` the one that removed it, or turned it into something else: null if none has.
    """

    steps: list[LineageStep]
    asked: int
    made_by: int
    removed_by: int | None


def _find(subject: Subject) -> LineageDocument:
    record = subject.record
    changed = [index for index, entry in sorted(record.result.passes.items()) if entry.text is not None]
    index, line = int(subject.parameters.get("pass", "0")), int(subject.parameters.get("line", "1"))
    record.compiler_pass(index)
    shown = [each for each in changed if each <= index]
    if not shown:
        raise NotAnswerable("There is no module yet after this pass.")
    start = changed.index(shown[-1])
    lines = record.text_after_pass(changed[start]).split("\n")
    if not 1 <= line <= len(lines) or not lines[line - 1].strip():
        raise InvalidRequest(f"The module after pass {index} has no operation in line {line}.")

    deadline = time.monotonic() + _MOST_SECONDS

    def aligned(position: int) -> Alignment:
        """The modules after two passes in a row, aligned."""
        if time.monotonic() > deadline:
            raise NotAnswerable("The passes are too many, and too large, to be followed.")
        return _aligned(_module(record, changed[position - 1]), _module(record, changed[position]))

    before: list[LineageStep] = []
    at, how = line - 1, None
    for position in range(start, -1, -1):
        step = backward(aligned(position), at) if position else None
        before.append(_row(record, changed[position], at, step.how if step else None))
        if step is None:
            break
        at = step.line
    after: list[LineageStep] = []
    at, removed_by = line - 1, None
    for position in range(start + 1, len(changed)):
        step = forward(aligned(position), at)
        if step is None:
            removed_by = changed[position]
            break
        at, how = step.line, step.how
        after.append(_row(record, changed[position], at, how))
    steps = [*reversed(before), *after]
    return LineageDocument(steps, len(before) - 1, steps[0].index, removed_by)


def _row(record: Record, index: int, line: int, how: How | None) -> LineageStep:
    text = record.text_after_pass(index).split("\n")[line]
    return LineageStep(index, line + 1, text.strip(), how)


def _module(record: Record, index: int) -> str:
    text = record.text_after_pass(index)
    if len(text) > _MOST_CHARACTERS:
        raise NotAnswerable(f"The module after pass {index} is too large to be followed.")
    return text


@lru_cache(_ALIGNMENTS_IN_MEMORY)
def _aligned(before: str, after: str) -> Alignment:
    return Alignment(before, after)


ANALYSIS = Analysis(
    name="lineage",
    summary="Where an operation of the module after a pass came from, and what became of it.",
    version=1,
    document=LineageDocument,
    find=_find,
    is_bounded=True,
    parameters=(
        Parameter("pass", int, "Index of the pass (0 when left out)."),
        Parameter("line", int, "Line of the module after it (1 when left out)."),
    ),
    saved=nothing_saved,  # there is one for each line of each pass
)
