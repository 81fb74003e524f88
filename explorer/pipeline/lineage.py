"""The origins of operations and instructions: a second compilation, in which the compiler tracks them.

In: a `Specialization`, a `Target`. Out: an `Answer` with the `Lineage` of all modules, and the stages after
the last MLIR module, with lines of TTGIR as their locations.

After each pass, a location snapshot gives each operation its own line of the module as its location. If the
next pass makes an operation from other operations, MLIR gives it their locations, fused if there are several.
An operation whose location is not a line of the snapshot has no origin.

The names of values are lost, because the printer takes them from locations. Everything else in a module must
be as in the ordinary compilation: `digest_of_module` checks this.

Source: `create_location_snapshot` of Triton 3.6 and 3.9, which calls MLIR's generateLocationsFromIR.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from explorer.model import Answer, Edits, Frame, Location, Stage, to_plain
from explorer.model.answers import Lineage, ModuleOrigins, digest_of_module, is_counted, spans_of
from explorer.model.hardware import Target
from explorer.pipeline.compile_to_llvm import TO_LLVM, CompilationToLlvm
from explorer.pipeline.errors import UserError
from explorer.pipeline.forked_copy import ForkedCopy
from explorer.pipeline.locations import LocationTable
from explorer.pipeline.lowering import Make
from explorer.pipeline.passes import PassRecorder, run_pass
from explorer.pipeline.queued_passes import Queued
from explorer.pipeline.stages.mlir import is_alias, read_module
from explorer.pipeline.stages.ptx import correct_line_information
from explorer.pipeline.tool_output import ToolOutput
from explorer.pipeline.user_source import source_numbers


class LineageCompilation(CompilationToLlvm):
    """Compiles a kernel and emits the origins of its operations and instructions."""

    _copy: ForkedCopy | None = None

    def run(self) -> None:
        """Compile, and emit the known origins, even if a pass fails.

        Raises:
            UserError: the kernel cannot be compiled.
        """
        with tempfile.TemporaryDirectory() as folder, self._output.active():
            self._recorder = recorder = SnapshotRecorder(
                self._target, self._output, Path(folder), self._edits
            )
            try:
                with recorder.active(), contextlib.suppress(_AllSeen):
                    self._lower()
            except Exception as error:  # The compiler may raise any exception.
                raise UserError(self._diagnose(error)) from error
            finally:
                self._emit_answer(Answer(json.dumps(to_plain(Lineage(tuple(recorder.modules))))))
                for value in self._copy.values() if self._copy else ():
                    self._emit_answer(_stage(**value))

    def _make(self, make: Make, module: Any) -> Any:
        if self._stage == TO_LLVM:
            self._copy = ForkedCopy(self._located_stages(module))
        return super()._make(make, module)

    def _emit_stage(self, produced_by: str, value: Any, milliseconds: float | None = None) -> None:
        """Emit nothing: the ordinary compilation emits the stages."""

    def _located_stages(self, module: Any) -> Iterator[dict[str, Any]]:
        """Make the remaining artifacts without snapshots. Yield the stages that instructions are in.

        All locations are lines of the last snapshot, so that line information refers to it.
        """
        recorder = self._recorder
        assert isinstance(recorder, SnapshotRecorder)
        recorder.is_recording = False
        names = list(self._all_steps)
        for name in names[names.index(TO_LLVM) :]:
            self._stage = name
            if name == "cubin":
                module = correct_line_information(module)
            module = super()._make(self._all_steps[name], module)
            stage = self._read(name, module)
            if isinstance(stage, Stage):
                yield {
                    "name": stage.name,
                    "title": stage.title,
                    "language": stage.language,
                    "text": stage.text,
                    "lines": [
                        recorder.origins([stage.locations[index] for index in indices])
                        for indices in stage.line_locations
                    ],
                }


class _AllSeen(Exception):
    """The last MLIR pass has run. The forked copy makes the rest."""


class SnapshotRecorder(PassRecorder):
    """Runs passes one at a time and takes a snapshot after each, from which it reads the origins of lines.

    While `is_recording` is false, it only runs them.
    """

    def __init__(self, target: Target, output: ToolOutput, folder: Path, edits: Edits | None = None) -> None:
        super().__init__(target, output, lambda _event: None, edits)
        self.modules: list[ModuleOrigins] = []
        self.is_recording = True
        self._folder = folder
        #: The file of the last snapshot, and for each line of the file the line of the module.
        self._file = ""
        self._lines: dict[int, int] = {}

    def first(self, name: str, title: str, milliseconds: float, module: Any) -> None:  # noqa: ARG002  a lineage names no passes
        """Take the first snapshot. The origins of its lines are lines of the user's source."""
        self._snapshot(module)

    def finish(self) -> None:
        """Do nothing: all modules are in `modules`."""

    def _run(self, real_ir: ModuleType, context: Any, queued: list[Queued], module: Any, tag: str) -> None:
        for function_name, add, arguments in queued:
            run_pass(real_ir, context, add, arguments, module, tag, function_name)
            if self.is_recording:
                self._snapshot(module)
        if self.is_recording and self.stage == TO_LLVM:
            raise _AllSeen

    def _snapshot(self, module: Any) -> None:
        index = len(self.modules)
        path = self._folder / f"snapshot-{index}"
        module.create_location_snapshot(str(path))
        raw = path.read_text(encoding="utf-8", errors="replace")
        path.unlink()
        table = LocationTable()
        shown = read_module(raw, table).splitlines()
        counted = [number for number, line in enumerate(shown) if is_counted(line)]
        locations = table.locations
        lines = [self.origins([locations[i] for i in table.lines[number]]) for number in counted]
        digest = digest_of_module(shown[number] for number in counted)
        self.modules.append(ModuleOrigins(index, digest, spans_of(lines)))
        self._file = path.name
        of_module = (
            n for n, line in enumerate(raw.splitlines(), 1) if not is_alias(line) and is_counted(line)
        )
        self._lines = {number: place for place, number in enumerate(of_module, 1)}

    def origins(self, locations: Iterable[Location]) -> list[int]:
        """Return the lines of the last snapshot among the frames of locations, in order.

        An inlined operation comes from the operation of the called function and from the call.
        """
        if not self._file:
            return list(
                dict.fromkeys(line for each in locations if (line := source_numbers().number_of(each)))
            )
        frames = (frame for location in locations for frame in location.frames)
        lines = (self._lines.get(each.line, 0) for each in frames if self._is_snapshot(each))
        return list(dict.fromkeys(line for line in lines if line))

    def _is_snapshot(self, frame: Frame) -> bool:
        return frame.file.rpartition("/")[2] == self._file


def _stage(name: str, title: str, language: str, text: str, lines: list[list[int]]) -> Stage:
    """Return a stage whose locations are lines of the module that was compiled."""
    index: dict[int, int] = {}
    for origins in lines:
        for line in origins:
            index.setdefault(line, len(index))
    return Stage(
        name=name,
        title=title,
        language=language,
        milliseconds=0,
        text=text,
        locations=tuple(Location((Frame("", line),)) for line in index),
        line_locations=tuple(tuple(index[line] for line in origins) for origins in lines),
    )
