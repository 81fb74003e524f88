"""The operations of a TTGIR module, with their positions in its text.

In: the text of a module, and the module that Triton parsed from it. Out: `ModuleOperation`s: their operands
and results with types, names and lines. MLIR's parser sets the location of an operation without a location to
its position in the text. The bindings do not return the location of an operation without results. Its line is
then the line of the next operation in the text with its name, because the parser and the walk visit
operations without regions in the same order.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from explorer.pipeline.compiler_queries.layout_types import LayoutType, read_type

_OPERATION = re.compile(r'^\s*(?P<results>%[^=]*? = )?"?(?P<name>[a-z_]\w*\.[\w.]+)"?')
_RESULT = re.compile(r"(%[\w$.-]+)(?::(\d+))?")
_PLACE = re.compile(r":(\d+):(\d+)\)*$")
_NAME_AT = re.compile(r"%[\w$.-]+")


@dataclass(frozen=True)
class ModuleValue:
    """A value of the module: its name in the text, the line that defines it, its type, and the object."""

    name: str
    line: int
    type: str
    layout_type: LayoutType | None
    handle: Any


@dataclass(frozen=True)
class ModuleOperation:
    """An operation, with its line in the text (0: not found)."""

    name: str
    line: int
    operands: tuple[ModuleValue, ...]
    results: tuple[ModuleValue, ...]
    handle: Any


class ModuleText:
    """The lines of the text of a module."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()

    def places(self) -> dict[str, deque[int]]:
        """Return the lines of the operations by name, in order."""
        found: dict[str, deque[int]] = defaultdict(deque)
        for number, line in enumerate(self.lines, 1):
            operation = _OPERATION.match(line)
            if operation:
                found[operation["name"]].append(number)
        return found

    def result_name(self, line: int, index: int) -> str:
        """Return the name of the operation's result with this index, as in the text."""
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
        """Return the name at a position: a block argument has the position of its declaration."""
        found = _NAME_AT.match(self.lines[line - 1], column - 1) if 0 < line <= len(self.lines) else None
        return found[0] if found else ""


def operations_of(module: Any, text: ModuleText) -> Iterator[ModuleOperation]:
    """Walk the module. For operations with regions, only the results are returned."""
    handles: list[Any] = []
    module.walk(handles.append)
    places = text.places()
    values: dict[int, ModuleValue] = {}
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
        yield ModuleOperation(name, line, tuple(operands), tuple(results), handle)


def _value(handle: Any, name: str, line: int) -> ModuleValue:
    type_text = str(handle.get_type())
    return ModuleValue(name, line, type_text, read_type(type_text), handle)


def _place(value: Any) -> tuple[int, int]:
    place = _PLACE.search(str(value.get_loc()))
    return (int(place[1]), int(place[2])) if place else (0, 0)
