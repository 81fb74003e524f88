"""The operations of an MLIR module, read from its text: their nesting, their values, and their order.

In: a module as the compiler prints it, without locations. Out: its functions, each with a tree of regions,
blocks and operations. An operation knows the line it begins on, the values it defines and uses, and its
position: how many operations end before it, which is how Triton's analyses count (a walk in post-order).

Text that is not understood is never an error: what cannot be read is left out, and whoever relies on
positions checks them against what the compiler says.

Source: the printers of MLIR and of Triton's dialects, 3.6 and 3.9. A region of `scf` that yields nothing
does not print its terminator; the holder of a `ttg.warp_specialize`'s partitions is not printed either.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

_RESULTS = re.compile(r"^((?:%[\w$.-]+(?::\d+)?(?:,\s*)?)+) = ")
_RESULT = re.compile(r"%([\w$.-]+)(?::(\d+))?")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_NAME = re.compile(r'^(?:"([^"]+)"|([a-z_][\w$]*(?:\.[\w$]+)+|call|return|module))')
_LABEL = re.compile(r"^(\^[\w$.-]+)(?:\((.*)\))?:")
_SUCCESSOR = re.compile(r"(\^[\w$.-]+)(?:\(([^:()]*(?:\([^()]*\)[^:()]*)*):)?")
_ARGUMENT = re.compile(r"(%[\w$.-]+):")
_INITIAL = re.compile(r"(%[\w$.-]+) = (%[\w$.-]+(?:#\d+)?)")
_FUNCTION_NAME = re.compile(r'@([\w$.-]+|"[^"]*")')
_PARTITION = re.compile(r"^partition\d+\(")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
#: A longer row of results is none that a compiler has written.
_MOST_RESULTS = 10_000
_IMPLICIT_TERMINATOR = {"scf.for": "scf.yield", "scf.if": "scf.yield"}


@dataclass(eq=False)
class Block:
    """Operations in a row. `arguments` are the values that whoever branches here passes on."""

    label: str
    arguments: tuple[str, ...] = ()
    operations: list[Operation] = field(default_factory=list)


@dataclass(eq=False)
class Operation:
    """One operation. `line` counts from 1; `text` is its first line.

    Values are named as there ("%a_1", "%b#0"); a name that an earlier region has used, too, is followed by
    "@" and the line that defines it. `successors` are the labels that it may branch to, each with the
    values it passes on.
    """

    name: str
    line: int
    text: str
    results: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    successors: tuple[tuple[str, tuple[str, ...]], ...] = ()
    regions: list[list[Block]] = field(default_factory=list)
    parent: Operation | None = None
    position: int = -1
    end_line: int = 0
    tail: str = ""

    def walk(self) -> Iterator[Operation]:
        """Go through the operations inside and itself, in the order in which they end."""
        for region in self.regions:
            for block in region:
                for operation in block.operations:
                    yield from operation.walk()
        yield self

    @property
    def whole_text(self) -> str:
        """The first line and, behind regions, the last: together they have all attributes and types."""
        return f"{self.text} {self.tail}" if self.tail else self.text


@dataclass(frozen=True)
class Function:
    """A function and its operations by position; the last of them is the function itself."""

    name: str
    operation: Operation

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """All operations, at the index of their position."""
        return tuple(self.operation.walk())


def read_functions(text: str) -> list[Function]:
    """Read the functions of a module that have a body, in the order of the text."""
    top = Operation("module", 0, "")
    _Reader(top).read(text.splitlines())
    found = []
    for operation in top.walk():
        if operation.name.endswith(".func") and operation.regions:
            name = _FUNCTION_NAME.search(operation.text)
            _tell_values_apart(operation)
            function = Function(name[1].strip('"') if name else "", operation)
            for position, inner in enumerate(function.operations):
                inner.position = position
            found.append(function)
    return found


def shown_name(value: str) -> str:
    """A value's name as it is printed."""
    return value.partition("@")[0]


class _Reader:
    """Reads lines into the regions that are open."""

    def __init__(self, top: Operation) -> None:
        top.regions.append([Block("^bb0")])
        self._open: list[Operation] = [top]
        #: An operation whose regions begin on lines of their own.
        self._pending: Operation | None = None

    def read(self, lines: list[str]) -> None:
        for number, line in enumerate(lines, 1):
            stripped = line.strip()
            if not stripped or stripped.startswith(("//", "#", "!", "{-#")):
                continue
            label = _LABEL.match(stripped)
            if label:
                self._begin_block(label[1], tuple(_ARGUMENT.findall(label[2] or "")))
            elif stripped.startswith("}"):
                self._close(stripped, number)
            elif self._pending is not None and (stripped == "default {" or _PARTITION.match(stripped)):
                self._open_region(self._pending, stripped)
            else:
                self._add(stripped, number)

    def _begin_block(self, label: str, arguments: tuple[str, ...]) -> None:
        region = self._open[-1].regions[-1]
        first = region[0]
        if len(region) == 1 and not first.operations and not first.arguments:
            first.label, first.arguments = label, arguments
        else:
            region.append(Block(label, arguments))

    def _open_region(self, operation: Operation, header: str) -> None:
        if _PARTITION.match(header) and operation.name == "ttg.warp_specialize":
            holder = Operation("ttg.warp_specialize.partitions", operation.line, header, parent=operation)
            operation.regions.append([Block("^bb0", operations=[holder])])
            self._pending = None
            self._open.append(operation)
            operation = holder
        if _PARTITION.match(header):
            self._pending = None
        operation.regions.append([Block("^bb0", _region_arguments(operation, header))])
        self._open.append(operation)

    def _add(self, stripped: str, number: int) -> None:
        operation = _read_operation(stripped, number)
        if operation is None:
            return
        operation.parent = self._open[-1]
        self._open[-1].regions[-1][-1].operations.append(operation)
        self._pending = operation if operation.name == "ttg.warp_specialize" else None
        if stripped.endswith("{"):
            self._open_region(operation, stripped)

    def _close(self, stripped: str, number: int) -> None:
        if len(self._open) == 1:
            return
        operation = self._open.pop()
        _end_region(operation, number)
        rest = stripped[1:].strip()
        operation.end_line, operation.tail = number, rest
        if rest in ("else {", ", {") or rest.startswith("do {"):
            self._open_region(operation, rest)
        elif operation.name == "ttg.warp_specialize.partitions":
            # Another partition follows, or the types of the operation that holds them.
            if rest:
                owner = self._open.pop()
                owner.end_line, owner.tail = number, rest
                self._pending = None
            else:
                self._pending = operation
        elif operation.name == "ttg.warp_specialize":
            self._pending = None if rest else operation


def _end_region(operation: Operation, number: int) -> None:
    """Add the terminator that is there although it is not printed."""
    terminator = _IMPLICIT_TERMINATOR.get(operation.name)
    last = operation.regions[-1][-1]
    if terminator and not (last.operations and last.operations[-1].name == terminator):
        last.operations.append(Operation(terminator, number, "", parent=operation))


def _tell_values_apart(function: Operation) -> None:
    """Give each value of a function a name of its own: regions beside each other repeat names."""
    taken: set[str] = set()

    def define(names: tuple[str, ...], line: int, scope: ChainMap[str, str]) -> tuple[str, ...]:
        for name in names:
            scope[name] = f"{name}@{line}" if name in taken else name
            taken.add(name)
        return tuple(scope[name] for name in names)

    def visit(operation: Operation, outside: ChainMap[str, str]) -> None:
        for region in operation.regions:
            scope: ChainMap[str, str] = outside.new_child()
            for block in region:
                block.arguments = define(block.arguments, operation.line, scope)
                for inner in block.operations:
                    inner.results = define(inner.results, inner.line, scope)
            for block in region:
                for inner in block.operations:
                    inner.operands = tuple(scope.get(name, name) for name in inner.operands)
                    inner.successors = tuple(
                        (label, tuple(scope.get(name, name) for name in passed))
                        for label, passed in inner.successors
                    )
                    visit(inner, scope)

    visit(function, ChainMap())


def _region_arguments(operation: Operation, header: str) -> tuple[str, ...]:
    """The values that a region is given, where its header names them."""
    if operation.name == "scf.for":
        induction = _VALUE.search(header)
        carried = header.partition("iter_args(")[2].partition(")")[0]
        names = tuple(name for name, _ in _INITIAL.findall(carried))
        return (*((induction[0],) if induction and " = " in header else ()), *names)
    if operation.name == "scf.while":
        return tuple(_ARGUMENT.findall(header) or [name for name, _ in _INITIAL.findall(header)])
    if operation.name.endswith(".func") or _PARTITION.match(header):
        return tuple(_ARGUMENT.findall(header.partition("(")[2]))
    return ()


def _read_operation(stripped: str, number: int) -> Operation | None:
    results = _RESULTS.match(stripped)
    body = stripped[results.end() :] if results else stripped
    name = _NAME.match(body)
    if not name:
        return None
    plain = _STRING.sub('""', body)
    values = tuple(_VALUE.findall(plain))
    operation = Operation(name[1] or name[2], number, stripped)
    if operation.name == "scf.for":
        # The induction variable and the carried values are defined inside.
        head = plain.partition(" iter_args(")
        carried = _INITIAL.findall(head[2].partition(")")[0])
        values = (*_VALUE.findall(head[0])[1:], *(initial for _, initial in carried))
    elif operation.name.endswith(".func"):
        values = ()
    elif operation.name.startswith("cf."):
        operation.successors = tuple(
            (label, tuple(_VALUE.findall(passed))) for label, passed in _SUCCESSOR.findall(plain)
        )
    operation.operands = values
    operation.results = _results(results[1]) if results else ()
    return operation


def _results(text: str) -> tuple[str, ...]:
    """The names of results; `%a:2` is `%a#0` and `%a#1`."""
    names: list[str] = []
    for name, count in _RESULT.findall(text):
        is_row = 0 < len(count) <= len(str(_MOST_RESULTS)) and int(count) <= _MOST_RESULTS
        names += [f"%{name}#{index}" for index in range(int(count))] if is_row else [f"%{name}"]
    return tuple(names)
