"""The compilation that the rules look at: its result, and the answers of other queries about it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar

import msgspec

from explorer.analysis.assembly.instruction_mix import purpose_of
from explorer.analysis.block_sizes import BlockUse, block_uses
from explorer.analysis.layouts.global_access import bytes_of_element
from explorer.analysis.mlir.full_masks import full_masks
from explorer.analysis.mlir.index_ranges import Turns, loop_turns
from explorer.analysis.mlir.operations import Function, read_functions, shown_name
from explorer.analysis.mlir.variables import variables
from explorer.analysis.source_edits import EditableSource
from explorer.errors import ExplorerError
from explorer.model import Diagnostic, Resources
from explorer.model.hardware import SECTOR_BYTES, find_target
from explorer.model.languages import find_language
from explorer.queries import compile_time, layouts, occupancy, schedule, tensor_registers
from explorer.queries.layout_accesses import AccessRow
from explorer.queries.query import Query, Subject
from explorer.queries.stage_lines import source_lines
from explorer.store import Record
from explorer.store.entries import StageLocations

Document = TypeVar("Document")
_LOOPS = ("scf.for", "scf.while")


class NotChecked(Exception):
    """A rule cannot be checked; the message says why."""


class Case:
    """A complete compilation. Answers of other queries are computed when a rule first needs them.

    The properties raise NotChecked if the compilation has no such answer.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.record = subject.record
        self.result = subject.record.result
        self.target = find_target(subject.record.request.target)
        self._failures: dict[str, str] = {}

    @cached_property
    def options(self) -> Mapping[str, object]:
        specialized = self.result.specialized
        return specialized.options if specialized else {}

    @property
    def has_guesses(self) -> bool:
        """Whether no launch determines the arguments."""
        return bool(self.result.specialized and self.result.specialized.guesses)

    @cached_property
    def launch_values(self) -> tuple[dict[str, int], tuple[int, ...]] | None:
        """The values of the integer arguments, and the grid; None if no launch determines them."""
        specialized = self.result.specialized
        return specialized.launch_values if specialized else None

    def diagnostics(self, rule: str) -> list[Diagnostic]:
        """Return the diagnostics that say the same as a rule."""
        return [each for each in self.result.diagnostics if each.rule == rule]

    @property
    def resources(self) -> Resources:
        if self.result.resources is None:
            raise NotChecked("The compilation has no binary.")
        return self.result.resources

    @cached_property
    def layouts(self) -> layouts.LayoutsDocument:
        return self._answer(layouts.QUERY, layouts.LayoutsDocument)

    @cached_property
    def schedule(self) -> schedule.ScheduleDocument:
        return self._answer(schedule.QUERY, schedule.ScheduleDocument)

    @cached_property
    def compile_time(self) -> compile_time.CompileTimeDocument:
        return self._answer(compile_time.QUERY, compile_time.CompileTimeDocument)

    @cached_property
    def occupancy(self) -> occupancy.OccupancyDocument:
        return self._answer(occupancy.QUERY, occupancy.OccupancyDocument)

    @cached_property
    def tensors(self) -> tensor_registers.TensorRegistersDocument:
        return self._answer(tensor_registers.QUERY, tensor_registers.TensorRegistersDocument)

    @cached_property
    def ttgir(self) -> str:
        return self._stage_text("ttgir")

    @cached_property
    def functions(self) -> list[Function]:
        """The functions of TTGIR."""
        return read_functions(self.ttgir)

    @cached_property
    def variables(self) -> dict[str, str]:
        """The variables of the source that values of TTGIR are, by the names of the values."""
        sources = dict(enumerate(self.ttgir_sources, 1))
        return {
            shown_name(value): name
            for function in self.functions
            for value, name in variables(function, sources).items()
        }

    @cached_property
    def spill_lines(self) -> Counter[int]:
        """The number of instructions of each source line that move spilled values."""
        stage = self.result.stages.get(self.machine_code)
        if stage is None:
            return Counter()
        lines = zip(self.machine_text, source_lines(self.record, stage), strict=False)
        return Counter(
            line for text, line in lines if line and purpose_of(text, stage.language).space == "local"
        )

    @cached_property
    def full_masks(self) -> set[int]:
        """The source lines of the accesses whose masks are true for all elements of the launch."""
        stage = self.result.stages.get("ttir")
        if stage is None or self.launch_values is None:
            return set()
        full, others = full_masks(read_functions(self.record.text(stage.text)), *self.launch_values)
        sources = source_lines(self.record, stage)
        lines, other_lines = ({sources[each - 1] for each in found} for found in (full, others))
        return lines - other_lines - {0}

    @cached_property
    def ttgir_sources(self) -> list[int]:
        """The source line of each line of TTGIR; 0: none."""
        stage = self.result.stages.get("ttgir")
        return source_lines(self.record, stage) if stage else []

    @cached_property
    def editable(self) -> EditableSource:
        """The source; an empty one if the script has further files, whose lines have numbers, too."""
        request = self.record.request
        return EditableSource("" if request.files else request.source)

    @cached_property
    def block_uses(self) -> dict[str, BlockUse]:
        """The uses of the parameters of the kernel as sizes of blocks."""
        return block_uses_of(self.record)

    @cached_property
    def machine_code(self) -> str:
        """The name of the stage with the machine code; "" if there is none."""
        purposes = ((name, find_language(each.language).purpose) for name, each in self.result.stages.items())
        return next((name for name, purpose in purposes if purpose), "")

    @cached_property
    def machine_text(self) -> list[str]:
        """The lines of the machine code; none if there is none."""
        stage = self.result.stages.get(self.machine_code)
        return self.record.text(stage.text).split("\n") if stage else []

    @cached_property
    def loops(self) -> list[tuple[int, int]]:
        """The first and the last line of each loop of TTGIR that contains no other loop."""
        found = sorted(
            (each.line, each.end_line)
            for function in self.functions
            for each in function.operations
            if each.name in _LOOPS
        )
        return [one for one in found if not any(one[0] < line and last < one[1] for line, last in found)]

    @cached_property
    def turns(self) -> list[Turns]:
        """The turns of the loops of TTGIR whose bounds are known at the sizes of the launch."""
        if self.launch_values is None:
            return []
        return [each for function in self.functions for each in loop_turns(function, *self.launch_values)]

    def turns_of(self, line: int) -> int:
        """Return how often a program executes a line of TTGIR. A loop with unknown bounds counts once."""
        return math.prod(each.turns for each in self.turns if each.line < line < each.end_line)

    @cached_property
    def moved_bytes(self) -> dict[int, int]:
        """The bytes that a program moves by each access to global memory, by the line of TTGIR."""
        return {
            each.line: self.turns_of(each.line)
            * bytes_of_element(each.element)
            * (1 if each.layout is None else math.prod(self.layouts.layouts[each.layout].shape))
            for each in self.layouts.accesses
        }

    @cached_property
    def moved_by_place(self) -> Counter[tuple[int, ...]]:
        """The same bytes, by the place of the access: the bytes of all copies of an access."""
        moved: Counter[tuple[int, ...]] = Counter()
        for each in self.layouts.accesses:
            moved[self.place(each)] += self.moved_bytes[each.line]
        return moved

    def in_loop(self, line: int) -> bool:
        """Return whether a line of TTGIR is in an innermost loop."""
        return any(first < line < last for first, last in self.loops)

    @property
    def accesses(self) -> Iterator[AccessRow]:
        """The accesses to global memory. Tensors that are smaller than a sector cannot use one well."""
        for each in self.layouts.accesses:
            row = None if each.layout is None else self.layouts.layouts[each.layout]
            if row is None or math.prod(row.shape) * bytes_of_element(each.element) >= SECTOR_BYTES:
                yield each

    def source_line(self, ttgir_line: int) -> int:
        return self.ttgir_sources[ttgir_line - 1] if 0 < ttgir_line <= len(self.ttgir_sources) else 0

    def without_copies(
        self, accesses: Iterable[AccessRow], cost: Callable[[AccessRow], float]
    ) -> list[AccessRow]:
        """Return the most costly copy of each access: the compiler copies the operations of some loops."""
        best = {self.place(each): each for each in sorted(accesses, key=cost)}
        return sorted(best.values(), key=lambda each: each.line)

    def place(self, access: AccessRow) -> tuple[int, ...]:
        """Return what all copies of an access have in common: its locations."""
        found = self._locations.line_locations
        return (access.line <= len(found) and tuple(found[access.line - 1])) or (-access.line,)

    def position(self, ttgir_line: int) -> tuple[int, int]:
        """Return the source line and the column that an operation of TTGIR comes from; 0 if not known."""
        stage = self.result.stages.get("ttgir")
        if stage is None:
            return 0, 0
        found = self._locations.line_locations
        for index in found[ttgir_line - 1] if 0 < ttgir_line <= len(found) else ():
            for frame in self._locations.locations[index].frames:
                if line := self.record.source_numbers.number(frame.file, frame.line):
                    return line, frame.column
        return 0, 0

    @cached_property
    def _locations(self) -> StageLocations:
        return self.record.locations(self.record.stage("ttgir"))

    def machine_lines(self, source_lines_wanted: Iterable[int]) -> tuple[tuple[int, int], ...]:
        """Return the ranges of lines of the machine code that come from source lines."""
        stage = self.result.stages.get(self.machine_code)
        wanted = {line for line in source_lines_wanted if line}
        if stage is None or not wanted:
            return ()
        ranges: list[tuple[int, int]] = []
        for number, line in enumerate(source_lines(self.record, stage), 1):
            if line in wanted:
                if ranges and ranges[-1][1] == number - 1:
                    ranges[-1] = ranges[-1][0], number
                else:
                    ranges.append((number, number))
        return tuple(ranges)

    def _stage_text(self, name: str) -> str:
        stage = self.result.stages.get(name)
        if stage is None:
            raise NotChecked(f"The compilation has no {name.upper()}.")
        return self.record.text(stage.text)

    def _answer(self, query: Query, document: type[Document]) -> Document:
        if query.name in self._failures:
            raise NotChecked(self._failures[query.name])
        try:
            return msgspec.json.decode(self._subject.answer(query, {}), type=document)
        except ExplorerError as error:
            self._failures[query.name] = str(error)
            raise NotChecked(str(error)) from error


def block_uses_of(record: Record) -> dict[str, BlockUse]:
    """Return the uses of the parameters of the kernel of a compilation as sizes of blocks."""
    texts = (record.request.source, *record.request.files.values())
    found = (block_uses(text, record.kernel or "") for text in texts)
    return next(filter(None, found), {})
