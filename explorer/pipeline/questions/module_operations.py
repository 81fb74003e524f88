"""The operations of a TTGIR module with a layout to be told of, and where its text has them.

In: a module's text, and the module that Triton has parsed from it. Out: `FoundOperation`s: their operands
and results with types, names and lines. MLIR's parser gives every operation without a location the place
where it stands; an operation without results tells nobody its location, so it is the next one in the
text with its name: the parser and the walk have the same order, for operations without regions.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from explorer.pipeline.questions.layout_types import LaidOutType, read_type

_OPERATION = re.compile(r'^\s*(?P<results>%[^=]*? = )?"?(?P<name>[a-z_]\w*\.[\w.]+)"?')
_RESULT = re.compile(r"(%[\w$.-]+)(?::(\d+))?")
_PLACE = re.compile(r":(\d+):(\d+)\)*$")
_NAME_AT = re.compile(r"%[\w$.-]+")


@dataclass(frozen=True)
class FoundValue:
    """A value of the module: its name in the text, the line that defines it, its type, and the object."""

    name: str
    line: int
    type: str
    laid_out: LaidOutType | None
    handle: Any


@dataclass(frozen=True)
class FoundOperation:
    """An operation, with the line of the text (0: not found)."""

    name: str
    line: int
    operands: tuple[FoundValue, ...]
    results: tuple[FoundValue, ...]
    handle: Any


class ModuleText:
    """The lines of a module."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()

    def places(self) -> dict[str, deque[int]]:
        """The lines of the operations, by name, in order."""
        found: dict[str, deque[int]] = defaultdict(deque)
        for number, line in enumerate(self.lines, 1):
            operation = _OPERATION.match(line)
            if operation:
                found[operation["name"]].append(number)
        return found

    def result_name(self, line: int, index: int) -> str:
        """The name of the operation's result of this index, as the text uses it."""
        head, separator, _ = self.lines[line - 1].partition(" = ")
        if not separator:
            return ""
        position = 0
        for name, count in _RESULT.findall(head):
            if index < position + int(count or 1):
                return f"{name}#{index - position}" if count else name
            position += int(count or 1)
        return ""

    def name_at(self, line: int, column: int) -> str:
        """The name that stands there: a block's argument is where it is declared."""
        found = _NAME_AT.match(self.lines[line - 1], column - 1) if 0 < line <= len(self.lines) else None
        return found[0] if found else ""


def operations_of(module: Any, text: ModuleText) -> Iterator[FoundOperation]:
    """Walk the module. Operations with regions come with the places of their results only."""
    handles: list[Any] = []
    module.walk(handles.append)
    places = text.places()
    values: dict[int, FoundValue] = {}
    for handle in handles:
        name = handle.get_name()
        line = 0
        queue = places.get(name)
        if queue and handle.get_num_regions() == 0:
            line = queue.popleft()
        results = []
        for index in range(handle.get_num_results()):
            value = handle.get_result(index)
            row, _ = _place(value)
            line = row or line
            found = _value(value, text.result_name(line, index) if line else "", line)
            values[value.id()] = found
            results.append(found)
        operands = []
        for index in range(handle.get_num_operands()):
            value = handle.get_operand(index)
            known = values.get(value.id())
            if known is None:
                row, column = _place(value)
                known = values[value.id()] = _value(value, text.name_at(row, column), row)
            operands.append(known)
        yield FoundOperation(name, line, tuple(operands), tuple(results), handle)


def _value(handle: Any, name: str, line: int) -> FoundValue:
    type_text = str(handle.get_type())
    return FoundValue(name, line, type_text, read_type(type_text), handle)


def _place(value: Any) -> tuple[int, int]:
    place = _PLACE.search(str(value.get_loc()))
    return (int(place[1]), int(place[2])) if place else (0, 0)
