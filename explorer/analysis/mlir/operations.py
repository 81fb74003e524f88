"""The reader of MLIR modules: a text in, its operations out, with their regions, blocks and values.

An operation knows the line on which it begins, the values it defines and uses, and, in a `Function`, its
position: how many operations end before it, which is how Triton's analyses count (a walk in post-order).

The reader relies on the lines of the compiler's printer: an operation begins on a new line, a region opens at
the end of a line and closes at the beginning of a line. Unknown text is left out and is no error. Callers
that rely on positions compare them with the compiler's report.

Source: the printers of MLIR and of Triton's dialects, 3.6 and 3.9. A region of `scf` that yields nothing
does not print its terminator; the holder of a `ttg.warp_specialize`'s partitions is not printed either.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*+"|//.*+')
_RESULTS = re.compile(r"^((?:%[\w$.-]++(?::\d++)?+(?:,\s*+)?+)++) = ")
_RESULT = re.compile(r"%([\w$.-]++)(?::(\d++))?+")
_VALUE = re.compile(r"%[\w$.-]++(?:#\d++)?+")
_NAME = re.compile(r'^(?:"([^"]++)"|([a-z_][\w$]*+(?:\.[\w$]++)++|call|return|module)\b)')
_LABEL = re.compile(r"^(\^[\w$.-]++)(?:\((.*)\))?:")
_SUCCESSOR = re.compile(r"(\^[\w$.-]++)(?:\(([^:()]*+(?:\([^()]*+\)[^:()]*+)*+):)?+")
_ARGUMENT = re.compile(r"(%[\w$.-]++)\s*+:")
_INITIAL = re.compile(r"(%[\w$.-]++) = (%[\w$.-]++(?:#\d++)?+)")
_FUNCTION_NAME = re.compile(r'@([\w$.-]+|"[^"]*")')
_PARTITION = re.compile(r"^partition\d++\(")
#: No compiler prints an operation with more results.
_MOST_RESULTS = 10_000
_IMPLICIT_TERMINATOR = {"scf.for": "scf.yield", "scf.if": "scf.yield"}
_PARTITIONS = "ttg.warp_specialize.partitions"


@dataclass(eq=False)
class Block:
    """A sequence of operations. `arguments` are the values that a branch to the block passes."""

    label: str
    line: int
    arguments: tuple[str, ...] = ()
    operations: list[Operation] = field(default_factory=list)


@dataclass(eq=False)
class Region:
    """The blocks of a region, the entry first. `title` is how its first line names it, such as "else"."""

    blocks: list[Block]
    first_line: int
    last_line: int
    title: str = ""

    @property
    def operations(self) -> Iterator[Operation]:
        """The operations of all blocks that the text contains, without implicit terminators."""
        return (operation for block in self.blocks for operation in block.operations if operation.text)


@dataclass(eq=False)
class Operation:
    """One operation. `line` starts at 1; `text` is its first line, "" for an implicit terminator.

    Values have the names of the text ("%a_1", "%b#0"). `operands` are all values that the operation uses. The
    last of them are either `initial`, the first values of the carried arguments of a loop, or the values that
    are passed to `successors`. `successors` are the labels that the operation may branch to, each with its
    values.
    In a `Function`, a name that an earlier region has used is followed by "@" and the line that defines it.
    """

    name: str
    line: int
    text: str
    results: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    initial: tuple[str, ...] = ()
    successors: tuple[tuple[str, tuple[str, ...]], ...] = ()
    regions: list[Region] = field(default_factory=list)
    parent: Operation | None = None
    position: int = -1
    end_line: int = 0
    tail: str = ""

    def walk(self) -> Iterator[Operation]:
        """Iterate over the operations inside and the operation itself, in the order in which they end."""
        for region in self.regions:
            for block in region.blocks:
                for operation in block.operations:
                    yield from operation.walk()
        yield self

    @property
    def own_operands(self) -> tuple[str, ...]:
        """The operands that are not initial values and are not passed to a successor."""
        handed_on = len(self.initial) + sum(len(values) for _, values in self.successors)
        return self.operands[: len(self.operands) - handed_on]

    @property
    def printed_regions(self) -> list[Region]:
        """The regions in the text: the regions of partitions replace the region of their holder."""
        regions: list[Region] = []
        for region in self.regions:
            first = region.blocks[0].operations[:1]
            regions += first[0].regions if first and first[0].name == _PARTITIONS else [region]
        return regions

    @property
    def whole_text(self) -> str:
        """The first line and, for an operation with regions, the last line: all attributes and types."""
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


def read_module(text: str) -> Region:
    """Read a text; return a region with the outermost operations."""
    lines = text.split("\n")
    top = Operation("module", 0, "", regions=[Region([Block("^bb0", 1)], 1, len(lines))])
    _Reader(top).read(lines)
    return top.regions[0]


def read_functions(text: str) -> list[Function]:
    """Read the functions of a module that have a body, in the order of the text. They are not nested."""
    found = []
    for operation in _function_operations(read_module(text).operations):
        name = _FUNCTION_NAME.search(operation.text)
        _make_names_unique(operation)
        function = Function(name[1].strip('"') if name else "", operation)
        for position, inner in enumerate(function.operations):
            inner.position = position
        found.append(function)
    return found


def _function_operations(operations: Iterable[Operation]) -> Iterator[Operation]:
    for operation in operations:
        if operation.name.endswith(".func") and operation.regions:
            yield operation
        else:
            for region in operation.regions:
                yield from _function_operations(region.operations)


def shown_name(value: str) -> str:
    """Return a value's name as it is printed."""
    return value.partition("@")[0]


def is_numbered(value: str) -> bool:
    """Return whether a value has a number, since the source has no name for it."""
    return value.startswith("%") and value[1:2].isdecimal()


def operation_name(line: str) -> str:
    """Return the name of the operation that begins in a line; "" if none does."""
    operation = _read_operation(line.strip(), 1)
    return operation.name if operation else ""


def find_operation(text: str, line: int) -> tuple[Function, Operation] | None:
    """Return the operation that begins in a line of a module, and its function."""
    found = ((each, inner) for each in read_functions(text) for inner in each.operations)
    return next(((function, inner) for function, inner in found if inner.line == line), None)


class _Reader:
    """Reads lines into the regions that are open."""

    def __init__(self, top: Operation) -> None:
        self._open: list[Operation] = [top]
        #: An operation whose regions begin on lines of their own.
        self._pending: Operation | None = None

    def read(self, lines: list[str]) -> None:
        for number, line in enumerate(lines, 1):
            stripped = line.strip()
            if "//" in stripped:
                stripped = _STRING_OR_COMMENT.sub(_without_comment, stripped).rstrip()
            if not stripped or stripped.startswith(("#", "!", "{-#")):
                continue
            label = _LABEL.match(stripped)
            if label:
                self._begin_block(label[1], number, tuple(_ARGUMENT.findall(label[2] or "")))
            elif stripped.startswith("}"):
                self._close(stripped, number)
            elif self._pending is not None and (stripped == "default {" or _PARTITION.match(stripped)):
                self._open_region(self._pending, stripped, number)
            else:
                self._add(stripped, number)
        for operation in self._open[1:]:  # the text is cut off
            operation.end_line = operation.regions[-1].last_line = len(lines)

    def _begin_block(self, label: str, number: int, arguments: tuple[str, ...]) -> None:
        region = self._open[-1].regions[-1]
        first = region.blocks[0]
        if len(region.blocks) == 1 and not first.operations and not first.arguments:
            first.label, first.line, first.arguments = label, number, arguments
        else:
            region.blocks.append(Block(label, number, arguments))

    def _open_region(self, operation: Operation, header: str, number: int) -> None:
        if _PARTITION.match(header):
            if operation.name == "ttg.warp_specialize":
                holder = Operation(_PARTITIONS, operation.line, header, parent=operation)
                block = Block("^bb0", number, operations=[holder])
                operation.regions.append(Region([block], number, number))
                self._open.append(operation)
                operation = holder
            self._pending = None
        block = Block("^bb0", number, _region_arguments(operation, header))
        is_first = number == operation.line
        title = "" if is_first else header.removesuffix("{").strip(" ,()").split("(")[0].strip()
        operation.regions.append(Region([block], number, number, title))
        self._open.append(operation)

    def _add(self, stripped: str, number: int) -> None:
        operation = _read_operation(stripped, number)
        if operation is None:
            return
        operation.parent = self._open[-1]
        self._open[-1].regions[-1].blocks[-1].operations.append(operation)
        self._pending = operation if operation.name == "ttg.warp_specialize" else None
        if stripped.endswith("{"):
            self._open_region(operation, stripped, number)

    def _close(self, stripped: str, number: int) -> None:
        if len(self._open) == 1:
            return
        operation = self._open.pop()
        _end_region(operation, number)
        rest = stripped[1:].strip()
        operation.end_line, operation.tail = number, rest
        if rest.endswith("{"):
            self._open_region(operation, rest, number)
        elif operation.name == _PARTITIONS:
            # Another partition follows, or the types of the operation that holds them.
            if rest:
                owner = self._open.pop()
                owner.end_line, owner.tail = number, rest
                self._pending = None
            else:
                self._pending = operation
        elif operation.name == "ttg.warp_specialize":
            self._pending = None if rest else operation


def _without_comment(found: re.Match[str]) -> str:
    return found[0] if found[0][0] == '"' else ""


def _end_region(operation: Operation, number: int) -> None:
    """End the last region; add the terminator that is not printed."""
    region = operation.regions[-1]
    region.last_line = number
    terminator = _IMPLICIT_TERMINATOR.get(operation.name)
    last = region.blocks[-1]
    if terminator and not (last.operations and last.operations[-1].name == terminator):
        last.operations.append(Operation(terminator, number, "", parent=operation))


def _make_names_unique(function: Operation) -> None:
    """Give each value of a function a unique name: sibling regions may use the same names."""
    taken: set[str] = set()

    def define(names: tuple[str, ...], line: int, scope: ChainMap[str, str]) -> tuple[str, ...]:
        for name in names:
            scope[name] = f"{name}@{line}" if name in taken else name
            taken.add(name)
        return tuple(scope[name] for name in names)

    def visit(operation: Operation, outside: ChainMap[str, str]) -> None:
        for region in operation.regions:
            scope: ChainMap[str, str] = outside.new_child()
            for block in region.blocks:
                block.arguments = define(block.arguments, operation.line, scope)
                for inner in block.operations:
                    inner.results = define(inner.results, inner.line, scope)
            for block in region.blocks:
                for inner in block.operations:
                    inner.operands = tuple(scope.get(name, name) for name in inner.operands)
                    inner.initial = tuple(scope.get(name, name) for name in inner.initial)
                    inner.successors = tuple(
                        (label, tuple(scope.get(name, name) for name in passed))
                        for label, passed in inner.successors
                    )
                    visit(inner, scope)

    visit(function, ChainMap())


def _region_arguments(operation: Operation, header: str) -> tuple[str, ...]:
    """Return the values that the first line of a region defines."""
    if operation.name.endswith(".for"):
        head, _, carried = header.partition(" iter_args(")
        induction = _VALUE.search(head.partition(operation.name)[2])
        names = (name for name, _ in _INITIAL.findall(carried.partition(")")[0]))
        return (*((induction[0],) if induction else ()), *names)
    if operation.name == "scf.while":
        return tuple(_ARGUMENT.findall(header) or [name for name, _ in _INITIAL.findall(header)])
    if operation.name.endswith(".func") or _PARTITION.match(header):
        return tuple(_ARGUMENT.findall(_STRING.sub('""', header).partition("(")[2]))
    return ()


def _read_operation(stripped: str, number: int) -> Operation | None:
    results = _RESULTS.match(stripped)
    body = stripped[results.end() :] if results else stripped
    name = _NAME.match(body)
    if not name:
        return None
    plain = _STRING.sub('""', body) if '"' in body else body
    operation = Operation(name[1] or name[2], number, stripped)
    operation.results = _results(results[1]) if results else ()
    if operation.name.endswith(".func"):
        return operation
    operation.operands = tuple(_VALUE.findall(plain))
    if operation.name.endswith(".for"):
        # The induction variable and the carried values are defined inside.
        head, _, carried = plain.partition(" iter_args(")
        operation.initial = tuple(value for _, value in _INITIAL.findall(carried.partition(")")[0]))
        operation.operands = (*_VALUE.findall(head)[1:], *operation.initial)
    elif operation.name == "scf.while":
        operation.operands = operation.initial = tuple(value for _, value in _INITIAL.findall(plain))
    elif "^" in plain:
        operation.successors = tuple(
            (label, tuple(_VALUE.findall(passed))) for label, passed in _SUCCESSOR.findall(plain)
        )
    return operation


def _results(text: str) -> tuple[str, ...]:
    """Return the names of results; `%a:2` is `%a#0` and `%a#1`."""
    names: list[str] = []
    for name, count in _RESULT.findall(text):
        is_row = 0 < len(count) <= len(str(_MOST_RESULTS)) and int(count) <= _MOST_RESULTS
        names += [f"%{name}#{index}" for index in range(int(count))] if is_row else [f"%{name}"]
    return tuple(names)
