"""The source of an imported kernel: the functions that its code comes from, or where they are.

The locations in TTIR or TTGIR name files and lines. A file of this machine is read only at the request of the
user, and only its functions with a decorator that ends with `jit`: an imported text may name any file.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from explorer.capture.read import CannotRead, read_file
from explorer.model.python_source import parse

_LOCATION = re.compile(r'loc\("([^"\\\n]{1,4096})":(\d{1,7}):\d+')
_MOST_FILES = 50
_MOST_SOURCE_BYTES = 4 << 20
_HEADER = ("import triton", "import triton.language as tl")

#: The first and the last line in its file, and the text.
Function = tuple[int, int, str]
#: File, first line there, number of lines, first line in the script.
Origin = tuple[str, int, int, int]


@dataclass(frozen=True)
class Script:
    """The text that is shown as the source of a kernel, and the origins of its lines."""

    text: str
    origins: tuple[Origin, ...] = ()


def lines_by_file(stages: dict[str, str]) -> dict[str, set[int]]:
    """Return the lines that the locations of the first module name, by file.

    The first file defines the kernel: the location of the kernel comes first.
    """
    found: dict[str, set[int]] = {}
    for name, line in _LOCATION.findall(stages.get("ttir") or stages.get("ttgir") or ""):
        if name.isprintable() and (name in found or len(found) < _MOST_FILES):
            found.setdefault(name, set()).add(int(line))
    return {name: lines - {0} for name, lines in found.items() if lines - {0}}


def functions_of(text: str, first_line: int = 1) -> list[Function]:
    """Return the functions with a decorator that ends with `jit`. The text begins at a line of its file.

    Raises:
        CannotRead: the text is not Python.
    """
    text = textwrap.dedent(text)
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise CannotRead(f"it is not Python: {error}") from error
    lines = text.split("\n")
    functions = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(map(_is_jit, node.decorator_list)):
            first, last = min(each.lineno for each in node.decorator_list), node.end_lineno or node.lineno
            body = textwrap.dedent("\n".join(lines[first - 1 : last]))
            functions.append((first + first_line - 1, last + first_line - 1, body))
    return sorted(functions)


def _is_jit(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return bool(name.endswith("jit"))


class LocalSources:
    """Reads the functions of files of this machine, each file once."""

    def __init__(self) -> None:
        self._files: dict[str, list[Function] | CannotRead] = {}

    def functions(self, name: str) -> list[Function]:
        """Return the functions of a file.

        Raises:
            CannotRead: it cannot be read, is not Python, or is named by a path that is not absolute.
        """
        if name not in self._files:
            try:
                self._files[name] = self._read(name)
            except CannotRead as error:
                self._files[name] = error
        found = self._files[name]
        if isinstance(found, CannotRead):
            raise found
        return found

    def functions_by_file(self, names: Iterable[str]) -> tuple[dict[str, list[Function]], str]:
        """Return the functions of all readable files, and why the first unreadable file cannot be read."""
        known, problem = {}, ""
        for name in names:
            try:
                known[name] = self.functions(name)
            except CannotRead as error:
                problem = problem or f"{name} is not read: {error}"
        return known, problem

    def _read(self, name: str) -> list[Function]:
        path = Path(name)
        if not path.is_absolute() or path.suffix != ".py":
            raise CannotRead("it is not the absolute path of a Python file")
        return functions_of(read_file(path, _MOST_SOURCE_BYTES).decode("utf-8", "replace"))


def write_script(
    kernel: str,
    file: str,
    missing: str,
    lines: dict[str, set[int]],
    known: dict[str, list[Function]],
) -> Script:
    """Write the functions that contain one of the lines, from the files whose functions are known.

    `file` defines the kernel. If none of its functions is known, the script says that the source is missing,
    gives the reason, and names the lines that the code comes from.
    """
    parts, origins = list(_HEADER), []
    for name, functions in known.items():
        for first, last, text in functions:
            if any(first <= line <= last for line in lines.get(name, ())):
                parts += ["", ""]
                origins.append((name, first, last - first + 1, len(parts) + 1))
                parts += text.split("\n")
    if any(origin[0] == file for origin in origins):
        return Script("\n".join([*parts, ""]), tuple(origins))
    if file in known:
        missing = f"{file} has no function with the decorator at its lines"
    notes = [f"The source of {_printable(kernel)} is missing: {missing}."]
    ranges = [f"    {name}: {min(found)} to {max(found)}" for name, found in lines.items() if found]
    if ranges:
        notes += ["The code comes from these lines:", *ranges]
    return Script("".join(f"# {note}\n" for note in notes))


def _printable(text: str) -> str:
    return "".join(each if each.isprintable() else "?" for each in text)[:200]
