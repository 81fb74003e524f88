"""The operations of an MLIR module, nested in their regions, as the compiler prints them.

It goes by the lines: an operation begins on a line of its own, a region opens at the end of one and closes at
the beginning of another. Values are looked up once all is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*+')
_OPERATION = re.compile(
    r"(?P<results>%[\w$.-]++(?::\d++)?+(?:,\s*+%[\w$.-]++(?::\d++)?+)*+\s*+=\s*+)?+"
    r'(?P<quote>"?)(?P<name>[A-Za-z_][\w$]*+(?:\.[\w$]++)*+)(?P=quote)'
)
_VALUE = re.compile(r"%[\w$.-]++(?:#\d++)?+")
_INITIAL = re.compile(r"(%[\w$.-]++)\s*+=\s*+(%[\w$.-]++(?:#\d++)?+)")
_ARGUMENT = re.compile(r"(%[\w$.-]++)\s*+:")
_RESULT = re.compile(r"%[\w$.-]++")
_BLOCK = re.compile(r"\^([\w$.-]++)")
_SUCCESSOR = re.compile(r"\^([\w$.-]++)(?:\(([^()]*+)\))?+")
_FURTHER_REGION = re.compile(r"(?:default|partition\d++)\b")
_ALIAS = re.compile(r"[#!][\w$.-]++\s*+=")


@dataclass(eq=False)
class Argument:
    """What a region or a block is given: its name, and for a loop the value it has in the first turn."""

    name: str
    line: int
    initial: str = ""


@dataclass(eq=False)
class Region:
    """A region of an operation: its arguments, those of its blocks by label, and its operations."""

    parent: Operation | None
    first_line: int
    last_line: int
    title: str = ""
    arguments: list[Argument] = field(default_factory=list)
    blocks: dict[str, list[Argument]] = field(default_factory=dict)
    operations: list[Operation] = field(default_factory=list)

    def all_arguments(self) -> Iterator[Argument]:
        """The arguments of the region, then those of its blocks."""
        yield from self.arguments
        for arguments in self.blocks.values():
            yield from arguments


@dataclass(eq=False)
class Operation:
    """An operation: the names of its results, the values it uses, the regions it has.

    `successors` are the blocks it may jump to, with the values that it hands on; these are no operands.
    """

    name: str
    text: str
    region: Region
    first_line: int
    last_line: int
    results: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    successors: list[tuple[str, list[str]]] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)

    @property
    def is_function(self) -> bool:
        """Whether it is a function with a body."""
        return self.name.rpartition(".")[2] == "func" and bool(self.regions)

    @property
    def is_module(self) -> bool:
        """Whether it only holds other operations."""
        return self.name in ("module", "builtin.module")

    @property
    def is_loop(self) -> bool:
        """Whether its regions may run more than once, one turn handing values to the next."""
        return self.name in ("scf.for", "scf.while", "affine.for")


def read(text: str) -> Region:
    """Read a module; the region returned holds what stands outermost."""
    reader = _Reader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.read(number, line)
    return reader.finish()


class _Reader:
    def __init__(self) -> None:
        self._top = Region(None, 1, 1)
        self._open = [self._top]
        self._line = 0

    def read(self, number: int, line: str) -> None:
        self._line = number
        code = _STRING_OR_COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else "", line).strip()
        if not code or _ALIAS.match(code):
            return
        if code.startswith("}"):
            self._close(number, code)
        elif code.startswith("^"):
            self._start_block(number, code)
        elif _FURTHER_REGION.match(code) and code.endswith("{"):
            operations = self._open[-1].operations
            if operations:
                self._open_region(number, operations[-1], code.removesuffix("{"))
        else:
            self._start_operation(number, code)

    def finish(self) -> Region:
        """Close what a truncated text has left open."""
        for region in self._open:
            self._end(region, self._line)
        return self._top

    def _close(self, number: int, code: str) -> None:
        if len(self._open) == 1:
            return
        region = self._open.pop()
        self._end(region, number)
        rest = code[1:].strip()
        if rest.endswith("{") and region.parent is not None:
            self._open_region(number, region.parent, rest.removesuffix("{"))

    def _end(self, region: Region, number: int) -> None:
        region.last_line = number
        if region.parent is not None:
            region.parent.last_line = number

    def _open_region(self, number: int, operation: Operation, head: str) -> None:
        region = Region(operation, number, number, head.strip(" ,()").split("(")[0].strip())
        region.arguments = [Argument(name, number) for name in _ARGUMENT.findall(_without_strings(head))]
        operation.regions.append(region)
        self._open.append(region)

    def _start_block(self, number: int, code: str) -> None:
        label = _BLOCK.match(code)
        if label:
            found = _ARGUMENT.findall(_without_strings(code))
            self._open[-1].blocks[label[1]] = [Argument(name, number) for name in found]

    def _start_operation(self, number: int, code: str) -> None:
        found = _OPERATION.match(code)
        region = self._open[-1]
        if found is None:
            return
        opens = code.endswith("{")
        operation = Operation(found["name"], code.removesuffix("{").rstrip(" ("), region, number, number)
        region.operations.append(operation)
        operation.results = _RESULT.findall(found["results"] or "")
        rest = _without_strings(code[found.end() :])
        inner = Region(operation, number, number)
        if operation.name.rpartition(".")[2] == "func":
            inner.arguments = [Argument(name, number) for name in _ARGUMENT.findall(rest)]
        else:
            rest = self._take_arguments(operation, inner, rest) if opens else rest
            rest = _SUCCESSOR.sub(lambda found: self._add_successor(operation, found), rest)
            operation.operands = list(dict.fromkeys(_VALUE.findall(rest)))
        if opens:
            operation.regions.append(inner)
            self._open.append(inner)

    def _take_arguments(self, operation: Operation, inner: Region, rest: str) -> str:
        """Take the arguments of a loop, with their first values, out of its first line."""
        for name, initial in _INITIAL.findall(rest):
            is_counter = operation.name.endswith(".for") and not inner.arguments
            inner.arguments.append(Argument(name, operation.first_line, "" if is_counter else initial))
        counter_only = _INITIAL.sub(r"\2", rest, count=1) if operation.name.endswith(".for") else rest
        return _INITIAL.sub("", counter_only)

    def _add_successor(self, operation: Operation, found: re.Match[str]) -> str:
        operation.successors.append((found[1], _VALUE.findall((found[2] or "").split(":")[0])))
        return ""


def _without_strings(text: str) -> str:
    return _STRING_OR_COMMENT.sub('""', text)
