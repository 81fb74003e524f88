"""The reader of the basic blocks of PTX. Inline assembly has separate labels between its braces."""

from __future__ import annotations

import re
from dataclasses import replace

from explorer.analysis.graphs.blocks import (
    Exit,
    Function,
    Instruction,
    Jump,
    Label,
    cut_into_blocks,
    opposite,
)

_FUNCTION = re.compile(r"\s*+(?:\.(?:visible|weak|extern)\s++)*+\.(?:entry|func)\b")
_FUNCTION_NAME = re.compile(r"(?:\.entry|\.func\s*+(?:\([^)]*+\))?+)\s++([\w$]++)")
_LONGEST_HEADER = 4000
_LABEL = re.compile(r"\s*+([\w$]++):(?!:)\s*+")
_STATEMENT = re.compile(r"(?:@(!?+[%\w$]++)\s++)?+([a-z][\w.:]*+)\s*+(.*+)", re.DOTALL)


def read(text: str) -> list[Function]:
    """Read the functions that have a body."""
    functions: list[Function] = []
    reader: _Body | None = None
    header, header_line = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        code = line.split("//", 1)[0]
        if reader is None:
            if not header and _FUNCTION.match(code):
                header_line = number
            if header_line:
                before, brace, code = code.partition("{")
                header += before + " "
                if not brace:
                    if ";" in before:  # declared only
                        header, header_line = "", 0
                    continue
                name = _FUNCTION_NAME.search(header[:_LONGEST_HEADER])
                reader = _Body(name[1] if name else "function", header_line)
                header, header_line = "", 0
            else:
                continue
        reader.read(number, code)
        if reader.is_closed:
            functions.append(reader.function())
            reader = None
    if reader is not None:  # the text ends in the middle
        functions.append(reader.function())
    return functions


class _Body:
    """The body of a function, between its braces."""

    def __init__(self, name: str, first_line: int) -> None:
        self._name = name
        self._first_line = first_line
        self._items: list[Label | Instruction] = []
        self._scopes = [0]
        self._parents: dict[int, int | None] = {0: None}
        self._scope_of: list[int] = []
        self._labels: set[tuple[int, str]] = set()
        self._tables: dict[str, tuple[str, ...]] = {}
        self._unfinished = ""
        self._unfinished_line = 0
        self.is_closed = False

    def read(self, number: int, code: str) -> None:
        rest = code.strip()
        while rest and not self.is_closed:
            if not self._unfinished:
                if rest[0] in "{}":
                    self._brace(rest[0])
                    rest = rest[1:].lstrip()
                    continue
                label = _LABEL.match(rest)
                if label:
                    scope = self._scopes[-1]
                    self._labels.add((scope, label[1]))
                    self._add(Label(number, label[1]))
                    rest = rest[label.end() :]
                    continue
                self._unfinished_line = number
            statement, semicolon, rest = rest.partition(";")
            self._unfinished = f"{self._unfinished} {statement.strip()}".strip()
            rest = rest.lstrip()
            if semicolon:
                self._finish()

    def function(self) -> Function:
        """Return the blocks, with jumps to the nearest label of each name."""
        items = [self._resolved(item, scope) for item, scope in zip(self._items, self._scope_of, strict=True)]
        return cut_into_blocks(self._name, self._first_line, items)

    def _brace(self, brace: str) -> None:
        if brace == "{":
            scope = len(self._parents)
            self._parents[scope] = self._scopes[-1]
            self._scopes.append(scope)
        elif len(self._scopes) > 1:
            self._scopes.pop()
        else:
            self.is_closed = True

    def _add(self, item: Label | Instruction) -> None:
        self._items.append(item)
        self._scope_of.append(self._scopes[-1])

    def _finish(self) -> None:
        text, self._unfinished = self._unfinished, ""
        if text.startswith(".branchtargets") and self._items and isinstance(self._items[-1], Label):
            targets = text.removeprefix(".branchtargets").split(",")
            self._tables[self._items[-1].name] = tuple(target.strip() for target in targets)
        statement = _STATEMENT.match(text)
        if statement:
            self._add(Instruction(self._unfinished_line, text, _exit(*statement.groups())))

    def _resolved(self, item: Label | Instruction, scope: int) -> Label | Instruction:
        if isinstance(item, Label):
            return replace(item, name=_in_scope(item.name, scope))
        if item.exit is None or not item.exit.jumps:
            return item
        jumps = (
            replace(jump, target=self._nearest(target, scope))
            for jump in item.exit.jumps
            for target in self._tables.get(jump.target, (jump.target,))
        )
        return replace(item, exit=replace(item.exit, jumps=tuple(jumps)))

    def _nearest(self, name: str, scope: int) -> str:
        at: int | None = scope
        while at is not None and (at, name) not in self._labels:
            at = self._parents[at]
        return _in_scope(name, at or 0)


def _in_scope(name: str, scope: int) -> str:
    return f"{name} {scope}" if scope else name


def _exit(guard: str | None, opcode: str, operands: str) -> Exit | None:
    kind = opcode.split(".", 1)[0]
    if kind == "bra":
        target = operands.strip()
        return Exit((Jump(target, guard or ""),), opposite(guard) if guard else None)
    if kind == "brx":
        index, _, table = operands.partition(",")
        return Exit((Jump(table.strip(), index.strip()),), opposite(guard) if guard else None)
    if kind in ("ret", "exit", "trap"):
        return Exit((), opposite(guard) if guard else None)
    return None
