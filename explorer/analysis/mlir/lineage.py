"""The path of operations through the modules of a compilation, from the origins that the compiler reports.

In: the modules with their spans. Out: for lines of one module, the lines that they come from in the module
before, or the lines that come from them in the module after. Nothing is compared and nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from explorer.analysis.diff.values import alias_meanings, with_meanings
from explorer.model.answers import ModuleOrigins, Span

_OPERATION = re.compile(r'^\s*(?:%[^=]*=\s*)?"?([a-z_][\w.]*)')
_VALUE = re.compile(r"%[\w$.-]+(?::\d+|#\d+)?")

#: Lines by line.
_Lines = Mapping[int, list[int]]


class Origins:
    """The origins of lines, by module. Module 0 comes from lines of the user's source."""

    def __init__(self, modules: Sequence[ModuleOrigins]) -> None:
        self._modules = modules
        self._before: dict[int, _Lines] = {}
        self._after: dict[int, _Lines] = {}

    @property
    def count(self) -> int:
        """The number of modules."""
        return len(self._modules)

    def before(self, index: int, lines: Iterable[int]) -> list[int]:
        """Return the lines of the module before `index` that lines of module `index` come from."""
        if index not in self._before:
            self._before[index] = _origins(self._modules[index].spans)
        return list(dict.fromkeys(origin for line in lines for origin in self._before[index].get(line, ())))

    def after(self, index: int, lines: Iterable[int]) -> list[int]:
        """Return the lines of the module after `index` that come from lines of module `index`."""
        if index not in self._after:
            self._after[index] = _turned(_origins(self._modules[index + 1].spans))
        return sorted({after for line in lines for after in self._after[index].get(line, ())})


def _origins(spans: Iterable[Span]) -> _Lines:
    found: dict[int, list[int]] = {}
    for line, count, origin, step in spans:
        for more in range(count):
            found.setdefault(line + more, []).append(origin + step * more)
    return found


def _turned(lines: _Lines) -> _Lines:
    found: dict[int, list[int]] = {}
    for line, origins in lines.items():
        for origin in origins:
            found.setdefault(origin, []).append(line)
    return found


class ModuleText:
    """The lines of a module, from which the page shows operations."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._meanings: dict[str, str] | None = None

    def operation(self, line: int) -> str:
        """Return the name of the operation that begins in a line (from 1); "" if none does."""
        text = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        found = _OPERATION.match(text)
        return found[1] if found else ""

    def first_line(self, line: int) -> int:
        """Return the first line of the operation that a line belongs to; 0 if there is none.

        A line that closes or divides the regions of an operation is indented like its first line.
        """
        text = self._lines[line - 1]
        if not text.lstrip().startswith(("}", "^")):
            return line if self.operation(line) else 0
        indent = len(text) - len(text.lstrip())
        above = (number for number in range(line - 1, 0, -1) if self.operation(number))
        return next((n for n in above if self._indent(n) <= indent), 0)

    def text(self, line: int) -> str:
        """Return a line without its indentation."""
        return self._lines[line - 1].strip()

    def key(self, line: int) -> str:
        """Return a line without the names of values, and with aliases resolved."""
        if self._meanings is None:
            self._meanings = alias_meanings([f"{line}\n" for line in self._lines])
        return with_meanings(_VALUE.sub("%", self.text(line)), self._meanings)

    def _indent(self, line: int) -> int:
        text = self._lines[line - 1]
        return len(text) - len(text.lstrip())
