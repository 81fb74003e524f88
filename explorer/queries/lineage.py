"""The query for the lineage of an operation: its origins, its later operations, its instructions.

A second compilation (`explorer.pipeline.lineage`) records it. The recording is cached like an answer; the
compilation is stored only if a worker does it, and soon removed. If a module or the machine code differs
between the two compilations, none of its lines are shown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec

from explorer.analysis.diff.stable import without_metadata_numbers
from explorer.analysis.mlir.lineage import ModuleText, Origins
from explorer.errors import InvalidRequest, NotAnswerable
from explorer.model.answers import Lineage, ModuleOrigins, digest_of_module, is_counted
from explorer.model.source_lines import SourceLines
from explorer.queries.query import Parameter, Query, Subject, nothing_saved
from explorer.store import Record

#: The step of a compilation whose module is the last stage in MLIR.
_LAST_STAGE = "ttgir"
#: This stage has lines with origins, but is not machine code.
_LLVM_IR = "llir"
_MOST_LINES = 60


class OperationLine(msgspec.Struct, frozen=True):
    """The first line of an operation, from 1. `origins` are lines of the previous step's module.

    Without origins, it is unknown what the operation was made from.
    """

    line: int
    operation: str
    text: str
    origins: list[int]


class LineageStep(msgspec.Struct, frozen=True):
    """The operations in the module after pass `index`. At most `_MOST_LINES` of the `count` are in `lines`.

    `is_touched`: the pass made, changed or removed one of them. `is_known` is false if the module of the
    second compilation differs; then there are no lines.
    """

    index: int
    lines: list[OperationLine]
    count: int
    is_touched: bool
    is_known: bool


class Instructions(msgspec.Struct, frozen=True):
    """The lines of a stage of machine code that the operations became, from 1.

    `is_equal` is false if the stage differs from the stage of the second compilation. Then there are no
    lines, and `differing_lines` is the number of differing lines.
    """

    stage: str
    title: str
    lines: list[int]
    is_equal: bool
    differing_lines: int


class LineageDocument(msgspec.Struct, frozen=True):
    """The path of an operation through the passes that changed the module.

    `asked` is the position of the requested step; the steps before it have the origins of the operation, the
    steps after it the operations made from it. `made_by` is the pass that made the operation from operations
    of other names, `made_from`; without any, these are unknown. The first module was made from
    `source_lines`. `unknown_before` is the pass before which nothing is known, `removed_by` the pass after
    which no operation comes from the requested one; null if there is none.
    """

    steps: list[LineageStep]
    asked: int
    made_by: int | None
    made_from: list[OperationLine]
    source_lines: list[int]
    unknown_before: int | None
    removed_by: int | None
    instructions: list[Instructions]


class LocatedStage(msgspec.Struct, frozen=True):
    """A stage of machine code. `origins` has for each line the lines of the last module in MLIR.

    Each line of the stage comes from these lines.
    """

    title: str
    text: str
    origins: list[tuple[int, ...]]


class Recording(msgspec.Struct, frozen=True):
    """The recording of a second compilation: the origins of the modules, and the stages by name."""

    modules: tuple[ModuleOrigins, ...]
    stages: dict[str, LocatedStage]

    @classmethod
    def of(cls, second: Record) -> Recording:
        """Return the recording of a finished second compilation.

        Raises:
            NotAnswerable: it has none, or another attempt may record more.
        """
        result = second.result
        modules = msgspec.json.decode(result.answer.document, type=Lineage).modules if result.answer else ()
        if not modules or result.done is None or result.done.is_transient:
            reason = " ".join(result.error_messages)
            raise NotAnswerable(reason or "The second compilation recorded no lineage. Try again.")
        stages = {
            name: LocatedStage(
                entry.title, second.text(entry.text), second.locations(entry).source_lines(SourceLines(""))
            )
            for name, entry in result.stages.items()
        }
        return cls(modules, stages)


class _Modules:
    """The modules of a compilation as shown, with the origins that the second compilation recorded."""

    def __init__(self, record: Record, recording: Recording) -> None:
        self._record = record
        self._recorded = recording.modules
        self.origins = Origins(recording.modules)
        told = range(len(recording.modules))
        entries = sorted(record.result.passes.items())
        #: The passes that changed the module, up to the end of the second compilation.
        self.changed = [index for index, entry in entries if entry.text is not None and index in told]
        self._texts: dict[int, _Text] = {}

    def text(self, index: int) -> _Text:
        """Return the module after a pass."""
        if index not in self._texts:
            lines = self._record.text_after_pass(index).split("\n")
            self._texts[index] = _Text(lines, self._recorded[index].digest)
        return self._texts[index]

    def last_of_stage(self, stage: str) -> int | None:
        """Return the last pass before a stage; None if the second compilation has none."""
        passes = self._record.result.passes
        return max(
            (i for i in range(self.origins.count) if i in passes and passes[i].stage == stage), default=None
        )


class _Text:
    """The module after a pass: lines as shown, and lines as a lineage counts them."""

    def __init__(self, lines: list[str], digest: str) -> None:
        while lines and not lines[-1]:
            lines.pop()
        self._shown = [number for number, line in enumerate(lines, 1) if is_counted(line)]
        counted = [lines[number - 1] for number in self._shown]
        self.module = ModuleText(counted)
        self.is_known = digest_of_module(counted) == digest

    @cached_property
    def _counted(self) -> dict[int, int]:
        return {shown: place for place, shown in enumerate(self._shown, 1)}

    @property
    def count(self) -> int:
        """The number of counted lines."""
        return len(self._shown)

    def shown(self, line: int) -> int:
        """Return the shown line of a counted line."""
        return self._shown[line - 1]

    def operation(self, line: int) -> int:
        """Return the counted first line of the operation in a shown line; 0 if there is none."""
        counted = self._counted.get(line, 0)
        return self.module.first_line(counted) if counted else 0

    def operations(self, lines: Sequence[int]) -> list[int]:
        """Return the counted lines in which an operation begins."""
        return [line for line in lines if self.module.first_line(line) == line]


class _Way:
    """The lines of an operation in each changed module, as a lineage counts them."""

    def __init__(self, modules: _Modules, index: int, lines: list[int]) -> None:
        self.modules = modules
        self.asked = index
        #: The lines of each module, changed or not.
        self.at = {index: lines}
        for earlier in range(index, 0, -1):
            found = modules.origins.before(earlier, self.at[earlier])
            if not found:
                break
            self.at[earlier - 1] = found
        for later in range(index, modules.origins.count - 1):
            found = modules.origins.after(later, self.at[later])
            if not found:
                break
            self.at[later + 1] = found
        self.first, self.last = min(self.at), max(self.at)
        self.shown = [each for each in modules.changed if self.first <= each <= self.last]

    def previous(self, index: int) -> int | None:
        """Return the changed module before a changed module."""
        return max((each for each in self.modules.changed if each < index), default=None)

    def origins(self, index: int, line: int) -> list[int]:
        """Return the lines of the previous changed module that a line of a changed module comes from."""
        lines, previous = [line], self.previous(index)
        for each in range(index, -1 if previous is None else previous, -1):
            lines = self.modules.origins.before(each, lines)
        return lines

    def lines(self, index: int) -> list[int]:
        """Return the first lines of the operations in a changed module."""
        text = self.modules.text(index)
        return text.operations(self.at[index]) if text.is_known else self.at[index]

    def operations(self, index: int) -> list[tuple[int, str]]:
        """Return the shown lines of the operations after a pass, with their names; none if unknown."""
        text = self.modules.text(index)
        if index not in self.at or not text.is_known:
            return []
        return [(text.shown(line), text.module.operation(line)) for line in text.operations(self.at[index])]

    def row(self, index: int, line: int) -> OperationLine:
        """Return the shown form of an operation of a changed module."""
        text, previous = self.modules.text(index), self.previous(index)
        origins: list[int] = []
        if previous is not None:
            before = self.modules.text(previous)
            origins = [before.shown(each) for each in self.origins(index, line)] if before.is_known else []
        return OperationLine(text.shown(line), text.module.operation(line), text.module.text(line), origins)

    def step(self, index: int) -> LineageStep:
        """Return the shown lines of a changed module."""
        lines = self.lines(index)
        is_known = self.modules.text(index).is_known
        rows = [self.row(index, line) for line in lines[:_MOST_LINES]] if is_known else []
        return LineageStep(index, rows, len(lines), self._is_touched(index), is_known)

    def _is_touched(self, index: int) -> bool:
        previous = self.previous(index)
        if previous is None or previous not in self.at:
            return True
        text, before = self.modules.text(index), self.modules.text(previous)
        lines, others = self.lines(index), self.lines(previous)
        if len(lines) != len(others) or not (text.is_known and before.is_known):
            return True
        for line in lines:
            origins = self.origins(index, line)
            if len(origins) != 1 or text.module.key(line) != before.module.key(origins[0]):
                return True
        return False

    def made(self) -> tuple[int | None, list[OperationLine]]:
        """Return the pass that made the requested operation, and the operations that it was made from.

        This is the last pass before which no origin has the name of the operation.
        """
        index = max(each for each in self.modules.changed if each <= self.asked)
        lines = self.lines(index)
        name = self.modules.text(index).module.operation(lines[0])
        while (previous := self.previous(index)) is not None:
            module = self.modules.text(previous).module
            origins = list(dict.fromkeys(o for line in lines for o in self.origins(index, line)))
            if not self.modules.text(previous).is_known:
                return None, []
            same = [line for line in origins if module.operation(line) == name]
            if not same:
                return index, [self.row(previous, line) for line in origins]
            index, lines = previous, same
        return index, []


def _find(subject: Subject) -> LineageDocument:
    record = subject.record
    if record.request.task != "compile":
        raise NotAnswerable(
            "The lineage of operations is known for Triton's passes, not for LLVM's own passes."
        )
    edits = record.request.edits
    if edits is not None and edits.stage and edits.stage == subject.parameters.get("stage"):
        raise NotAnswerable(
            "The lines of an edited text have no lineage. Select the operation after the pass 'edited'."
        )
    recording = _recording(subject)
    modules = _Modules(record, recording)
    index, line = int(subject.parameters.get("pass", "0")), int(subject.parameters.get("line", "1"))
    stage = subject.parameters.get("stage", "")
    if stage in recording.stages:
        index, lines = _operations_of(record, recording, modules, stage, line)
    else:
        if stage:
            index = _pass_of(modules, stage)
        record.compiler_pass(index)
        lines = _operation_at(modules, index, line)
    way = _Way(modules, index, lines)
    made_by, made_from = way.made()
    last = way.last + 1
    return LineageDocument(
        steps=[way.step(each) for each in way.shown],
        asked=max(place for place, each in enumerate(way.shown) if each <= index),
        made_by=made_by,
        made_from=made_from,
        source_lines=modules.origins.before(0, way.at[0]) if 0 in way.at else [],
        unknown_before=way.first if way.first else None,
        removed_by=last if last < modules.origins.count else None,
        instructions=_instructions(record, recording, modules, way),
    )


def _record_lineage(subject: Subject) -> Recording:
    return Recording.of(subject.compiler.ask(dataclasses.replace(subject.record.request, task="lineage")))


def _recording(subject: Subject) -> Recording:
    """Return the recording of the second compilation, which is cached."""
    return msgspec.json.decode(subject.answer(RECORDING, {}), type=Recording)


def _pass_of(modules: _Modules, stage: str) -> int:
    """Return the pass whose module a stage shows."""
    index = modules.last_of_stage(stage)
    if index is None:
        raise NotAnswerable(f"The lineage of operations is not known for the stage {stage!r}.")
    return index


def _operation_at(modules: _Modules, index: int, line: int) -> list[int]:
    """Return the counted line of the operation in a line of the module after a pass."""
    if index >= modules.origins.count:
        raise NotAnswerable("The second compilation, which records the lineage, did not reach this pass.")
    text = modules.text(index)
    if not text.is_known:
        raise NotAnswerable(
            "The lineage is unknown here: the second compilation, which records it, has another module after "
            "this pass."
        )
    found = text.operation(line)
    if not found:
        raise InvalidRequest(f"The module after pass {index} has no operation in line {line}.")
    return [found]


def _operations_of(
    record: Record, recording: Recording, modules: _Modules, stage: str, line: int
) -> tuple[int, list[int]]:
    """Return the last pass to TTGIR, and the lines of its module that an instruction comes from."""
    second = recording.stages[stage]
    lines = second.origins
    if differing := _differing_lines(record, stage, second):
        raise NotAnswerable(
            f"Unknown: with other line information, {differing} lines of the {second.title} differ, so its "
            "instructions cannot be assigned to operations."
        )
    if not 1 <= line <= len(lines):
        raise InvalidRequest(f"The stage {stage} has no line {line}.")
    index = _pass_of(modules, _LAST_STAGE)
    if not lines[line - 1]:
        raise NotAnswerable(
            "Unknown: the line information of this line leads to no operation of TTGIR. LLVM gives an "
            "instruction no line if it has moved it to another block, or merged it with another instruction."
        )
    return index, list(lines[line - 1])


class OperationLines(NamedTuple):
    """The lines of an operation in the source, and lines with names in TTGIR and after a later pass."""

    source_lines: list[int]
    ttgir: list[tuple[int, str]]
    after: list[tuple[int, str]]


def follow_operations(subject: Subject, index: int, lines: Iterable[int], later: int) -> list[OperationLines]:
    """Return the lines of operations, which are given as lines of the module after pass `index`."""
    modules = _Modules(subject.record, _recording(subject))
    found = []
    last = modules.last_of_stage(_LAST_STAGE)
    for line in lines:
        way = _Way(modules, index, _operation_at(modules, index, line))
        found.append(
            OperationLines(
                modules.origins.before(0, way.at[0]) if 0 in way.at else [],
                way.operations(last) if last is not None else [],
                way.operations(later),
            )
        )
    return found


def operations_without_instructions(subject: Subject, stage: str) -> list[tuple[int, str]]:
    """Return the lines of TTGIR, with names, of the operations that no line of a later stage comes from.

    Raises:
        NotAnswerable: the modules or the stages of the two compilations differ.
    """
    recording = _recording(subject)
    modules = _Modules(subject.record, recording)
    text, second = modules.text(_pass_of(modules, _LAST_STAGE)), recording.stages[stage]
    if not text.is_known or _differing_lines(subject.record, stage, second):
        raise NotAnswerable(f"The second compilation has another {second.title}.")
    with_instructions = {line for origins in second.origins for line in origins}
    return [
        (text.shown(line), text.module.operation(line))
        for line in range(1, text.count + 1)
        if line not in with_instructions and text.module.operation(line)
    ]


def origins_of_lines(subject: Subject, stage: str) -> list[tuple[int, ...]]:
    """Return for each line of a stage after TTGIR the lines of TTGIR's last module that it comes from.

    A stage that the second compilation does not have has no such lines.
    """
    second = _recording(subject).stages.get(stage)
    return [] if second is None else second.origins


def _differing_lines(record: Record, stage: str, second: LocatedStage) -> int:
    """Return the number of lines of machine code that differ between the compilations, at the same place."""
    entry = record.result.stages.get(stage)
    texts = (record.text(entry.text) if entry else "", second.text)
    ours, theirs = (
        (without_metadata_numbers(text) if stage == _LLVM_IR else text).splitlines() for text in texts
    )
    same = sum(one == other for one, other in zip(ours, theirs, strict=False))
    return max(len(ours), len(theirs)) - same


def _instructions(record: Record, recording: Recording, modules: _Modules, way: _Way) -> list[Instructions]:
    """Return the instructions that come from the operations in the last module in MLIR."""
    index = modules.last_of_stage(_LAST_STAGE)
    if index is None or index < way.asked or index not in way.at:
        return []
    wanted = set(way.at[index])
    found = []
    for name, second in recording.stages.items():
        if name == _LLVM_IR:
            continue
        differing = _differing_lines(record, name, second)
        located = [] if differing else second.origins
        lines = [number for number, origins in enumerate(located, 1) if not wanted.isdisjoint(origins)]
        found.append(Instructions(name, second.title, lines, not differing, differing))
    return found


#: The second compilation, from which the other answers are made.
RECORDING = Query(
    name="lineage_recording",
    summary="The second compilation of a kernel, which records the lineage of its operations.",
    version=2,
    document=Recording,
    find=_record_lineage,
    saved=nothing_saved,
)


QUERY = Query(
    name="lineage",
    summary="The origins of an operation, pass by pass, the operations made from it, and its instructions.",
    version=4,
    document=LineageDocument,
    find=_find,
    parameters=(
        Parameter("pass", int, "Index of the pass (0 when left out)."),
        Parameter("line", int, "Line of the module after the pass (1 when left out)."),
        Parameter("stage", str, "The line belongs to this stage, in place of a pass."),
    ),
    saved=nothing_saved,  # one for each line of each pass
)
