"""Finds the Python code in the forms in which people paste it: Markdown, a notebook, a diff, several files.

In: a pasted text. Out: its code, with each line where it is in the text, so that the numbers of lines stay
the same. A text that Python can parse is returned as it is, with two exceptions: the JSON of a notebook, and
files that import each other.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from explorer.model import Diagnostic, LineNumber
from explorer.model.source_language import source_language

#: A fence of Markdown, in a list or in a quotation, too.
_FENCE = re.compile(r"^(?P<before>[ \t>]*)(?P<fence>`{3,}|~{3,})(?P<words>[^`]*)$")
_PYTHON_FENCE = re.compile(r"^\s*\{?\.?(?:python[\d.]*|py|py3|triton|gluon|ipython\d?)\b", re.IGNORECASE)
_DIFF_FENCE = re.compile(r"^\s*(?:diff|patch)\b", re.IGNORECASE)

#: A line that names the file of the lines after it: "# file: a.py", "==> a.py <==", "--- a.py", "**a.py**".
_HEADING = re.compile(
    r"^(?P<mark>[#=\-*>/`\s]*+)(?P<word>file(?:name)?\s*+:)?[\s`*\"']*+"
    r"(?P<path>[\w./\-]+\.(?P<kind>py|md|txt|toml|cfg|ini|json|ya?ml|sh|cuh?|cpp|h|csv|rst))"
    r"[\s#=\-*</`:\"']*+$",
    re.IGNORECASE,
)
_PATH = re.compile(r"[\w.\-/]+\.py\b")

_HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(?P<line>\d+)(?:,(?P<lines>\d+))? @@")
_NEW_FILE = re.compile(r"^\+\+\+ (?:b/)?(?P<path>[^\t]+?)(?:\t.*)?$")

_MAGIC = re.compile(r"^(?P<indent>[ \t]*)(?:%{1,2}[A-Za-z]|!|\?+\w|[\w ,.]+ = [!%][A-Za-z]|[\w.]+\?+[ \t]*$)")
#: Magics of a cell whose other lines are Python.
_PYTHON_CELL = re.compile(r"%%(?:time|timeit|capture|prun|python\d?|py3dbg|debug)\b")
_FILE_CELL = re.compile(r"%%(?:writefile|file)[ \t]+(?:-a[ \t]+)?(?P<path>[\w.\-/]+)")

_JSON_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_KERNEL = re.compile(r"^\s*@.*\bjit\b", re.MULTILINE)
_FUTURE = re.compile(r"from __future__ import ")

#: A file of these names is not the module that code imports by the name.
_STANDARD_MODULES = frozenset((*sys.stdlib_module_names, "torch", "triton", "numpy"))

#: The most ranges of lines in a note.
_MOST_RUNS = 8


@dataclass
class _Part:
    """Lines of code by the numbers of their lines. `path` names their file, if the text does."""

    lines: dict[LineNumber, str]
    path: str = ""
    #: Whether the part is a fence that names no language, or is in the middle of a file.
    is_uncertain: bool = False
    is_middle: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines.values())

    @property
    def tree(self) -> ast.Module | None:
        """The syntax tree; None: the part is not Python."""
        return _tree(self.text)


@dataclass(frozen=True)
class PastedCode:
    """The code of a pasted text. The lines without code are empty.

    `text` is all code, and `script` the code to execute. `files` are the files of the text that another file
    of the text imports, by their paths, and `path` is the path of the script, if the text names it. `indents`
    has the lines whose code begins later in the text than here, with the difference in characters. `notes`
    say which lines are the code.
    """

    text: str
    script: str
    files: dict[str, str] = field(default_factory=dict)
    path: str = ""
    indents: dict[LineNumber, int] = field(default_factory=dict)
    notes: tuple[Diagnostic, ...] = ()


def find_code(text: str) -> PastedCode:
    """Return the code of a pasted text whose lines end in newlines; `text` itself if no code is found."""
    if source_language(text) != "python":
        return PastedCode(text, text)
    lines = text.split("\n")
    if (cells := _cells(text, lines)) is not None:
        return _code("a notebook", lines, _kept(cells))
    marks = (_FENCE, _HUNK, _HEADING, _MAGIC)
    if not any(mark.match(line) for line in lines for mark in marks):
        return PastedCode(text, text)  # To parse the text would take longer.
    if _tree(text) is not None:
        files = _sections(lines)
        is_whole = files and all(part.tree is not None for part in files)
        code = _code("several files", lines, files) if is_whole else None
        return code if code is not None and code.files else PastedCode(text, text)
    forms = _FORMS
    if next((line for line in lines if _FENCE.match(line) or _HUNK.match(line)), "").startswith("@@"):
        forms = (_DIFF, *forms)  # A diff may be of code with fences, and Markdown may have diffs.
    for form, read in forms:
        if parts := _kept(read(lines)):
            return _code(form, lines, parts)
    return PastedCode(text, text)


def _tree(text: str) -> ast.Module | None:
    """Return the syntax tree of a text; None: it is not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# --- forms ------------------------------------------------------------------------------------


def _cells(text: str, lines: list[str]) -> list[_Part] | None:
    """Return the cells of a notebook with code; None: the text is not a notebook."""
    if not text.lstrip().startswith("{") or '"cells"' not in text:
        return None
    numbered = "\n".join(
        _JSON_STRING.sub(rf'"{number}:\1"', line) for number, line in enumerate(lines, 1)
    )  # The decoder does not tell the lines of strings. No string has a newline of its own.

    def without_numbers(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name.partition(":")[2]: value for name, value in pairs}

    try:
        notebook = json.loads(numbered, object_pairs_hook=without_numbers)
    except (ValueError, RecursionError):
        return None
    cells = notebook.get("cells")
    parts, line = [], 0
    for cell in cells if isinstance(cells, list) else ():
        if not isinstance(cell, dict) or str(cell.get("cell_type")).partition(":")[2] != "code":
            continue
        source = cell.get("source")
        code: dict[LineNumber, str] = {}
        for string in source if isinstance(source, list) else [source]:
            number, _, content = str(string).partition(":")
            # Where a string has several lines, they follow one another, and have numbers of their own.
            for row in content.removesuffix("\n").split("\n"):
                line = max(line + 1, int(number) if number.isdecimal() else 0)
                code[line] = row
        parts.append(_cell(code))
    return parts if isinstance(cells, list) else None


def _cell_of_lines(lines: list[str]) -> list[_Part]:
    """Return the lines without magics; nothing if there are no magics."""
    if not any(map(_MAGIC.match, lines)):
        return []
    part = _cell(dict(enumerate(lines, 1)))
    return [part] if part.tree is not None else []


def _cell(lines: dict[LineNumber, str]) -> _Part:
    """Return the Python code of a cell: without magics, and nothing if a magic says that it is not Python."""
    first = next((line for line in lines.values() if line.strip()), "").strip()
    if found := _FILE_CELL.match(first):
        rest = {number: line for number, line in lines.items() if line.strip() != first}
        return _Part(rest if found["path"].endswith(".py") else {}, found["path"])
    if first.startswith("%%") and not _PYTHON_CELL.match(first):
        return _Part({})
    return _Part(_without_magics(lines))


def _without_magics(lines: dict[LineNumber, str]) -> dict[LineNumber, str]:
    if _Part(lines).tree is not None:
        return lines
    # A magic may be the only statement of a block.
    return {
        number: f"{found['indent']}pass" if (found := _MAGIC.match(line)) else line
        for number, line in lines.items()
    }


def _hunks(lines: list[str]) -> list[_Part]:
    """Return the new and the unchanged lines of each hunk of a diff."""
    parts: list[_Part] = []
    path, remaining = "", 0
    for number, line in enumerate(lines, 1):
        if hunk := _HUNK.match(line):
            parts.append(_Part({}, path, is_middle=int(hunk["line"]) > 1))
            remaining = int(hunk["lines"] or 1)
        elif remaining and line[:1] in ("+", " ", ""):
            parts[-1].lines[number] = line[1:]
            remaining -= 1
        elif not remaining and (file := _NEW_FILE.match(line)):
            path = file["path"]
    return [part for part in parts if part.path.endswith(".py") or not part.path]


def _fences(lines: list[str]) -> list[_Part]:
    """Return the code of each fence of Markdown that may be Python."""
    parts: list[_Part] = []
    opened: re.Match[str] | None = None
    current = _Part({})
    above = ""
    for number, line in enumerate(lines, 1):
        fence = _FENCE.match(line)
        if opened is None and fence is not None:
            opened = fence
            current = _Part({}, _path_in(fence["words"]) or _path_of(above))
        elif opened is not None and fence is not None and _closes(fence, opened):
            parts += _parts_of_fence(opened["words"], current)
            opened, above = None, ""
        elif opened is not None:
            before = line[: len(opened["before"])]
            current.lines[number] = line if before.strip(" \t>") else line[len(before) :]
        elif line.strip():
            above = line
    if opened is not None:
        parts += _parts_of_fence(opened["words"], current)
    is_named = any(not part.is_uncertain for part in parts)
    return [part for part in parts if not part.is_uncertain or not is_named]


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    return fence["fence"].startswith(opened["fence"]) and not fence["words"].strip()


def _parts_of_fence(words: str, part: _Part) -> list[_Part]:
    if _DIFF_FENCE.match(words):
        kept = {number: line[1:] for number, line in part.lines.items() if line[:1] in ("+", " ", "")}
        return _hunks(_text(part.lines).split("\n")) or [replace(part, lines=kept)]
    if words.strip() and not _PYTHON_FENCE.match(words) and not _path_in(words):
        return []
    first = next((line for line in part.lines.values() if line.strip()), "")
    path = part.path or (_path_of(first) if first.startswith("#") else "")
    return [_Part(_without_magics(part.lines), path, is_uncertain=not words.strip())]


def _sections(lines: list[str]) -> list[_Part]:
    """Return the code below each heading that names a file of Python."""
    parts = [_Part({})]
    for number, line in enumerate(lines, 1):
        if path := _path_of(line):
            parts.append(_Part({}, path))
        else:
            parts[-1].lines[number] = line
    if len(parts) == 1:
        return []
    before, *named = parts
    named = [_Part(_cell(part.lines).lines, part.path) for part in named if part.path.endswith(".py")]
    return [before, *named] if named and before.tree is not None else named


def _path_of(line: str) -> str:
    """Return the path of the file that a heading names; "": the line is not a heading."""
    found = _HEADING.match(line)
    if found is None or not (found["kind"] == "py" or found["mark"].strip() or found["word"]):
        return ""
    return found["path"]


def _path_in(words: str) -> str:
    found = _PATH.search(words)
    return found[0].lstrip("/") if found else ""


_DIFF = ("a diff", _hunks)
_FORMS: tuple[tuple[str, Callable[[list[str]], list[_Part]]], ...] = (
    ("Markdown", _fences),
    _DIFF,
    ("several files", _sections),
    ("code with magics of Jupyter", _cell_of_lines),
)


# --- the code of all parts --------------------------------------------------------------------


def _kept(parts: list[_Part]) -> list[_Part]:
    """Leave out the parts that are not Python, such as error messages, unless they hold a kernel.

    Of the middle of a file, the rest of a statement that begins before it is left out.
    """
    kept = []
    for part in parts:
        if part.is_middle and part.tree is None:
            rows = list(part.lines.items())
            start = next((index for index, (_, row) in enumerate(rows) if row[:1].strip(" \t)]}")), len(rows))
            part = replace(part, lines=dict(rows[start:]))
        if _holds_code(part):
            kept.append(part)
    return kept


def _holds_code(part: _Part) -> bool:
    if (tree := part.tree) is None:
        return _KERNEL.search(part.text) is not None
    return any(not (part.is_uncertain and isinstance(each, ast.Expr)) for each in tree.body)


def _code(form: str, lines: list[str], parts: list[_Part]) -> PastedCode:
    """Return the code of `parts`. A file that another file imports is a file; all others are the script."""
    parts = [part for part in parts if part.text.strip()]
    if not parts:
        return PastedCode("", "", notes=(Diagnostic("error", f"The source is {form} without Python code."),))
    imported = {module for part in parts for module in _imports(part)}
    paths = {part.path: _import_paths(part.path, imported) for part in parts}
    if all(paths.values()):
        paths[parts[-1].path] = []
    code: dict[LineNumber, str] = {}
    script: dict[LineNumber, str] = {}
    files: dict[str, dict[LineNumber, str]] = {}
    for part in parts:
        code |= part.lines
        if not paths[part.path]:
            script |= part.lines
        for path in paths[part.path]:
            files.setdefault(path, {}).update(part.lines)
    return PastedCode(
        _text(code),
        _text(_with_first_future(script)),
        {path: _text(own) for path, own in files.items()},
        next((part.path for part in reversed(parts) if not paths[part.path]), ""),
        _indents(code, lines),
        tuple(_notes(form, code, parts)),
    )


def _imports(part: _Part) -> Iterator[str]:
    """Yield the names of the modules that a part imports, and of the objects that may be modules."""
    package = part.path.split("/")[:-1]
    for node in ast.walk(part.tree or ast.Module([], [])):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: max(len(package) - node.level + 1, 0)] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{name.name}".lstrip(".") for name in node.names)


def _import_paths(path: str, imported: set[str]) -> list[str]:
    """Return the paths, from any folder on, under which a file is imported."""
    folders = path.split("/")
    tails = ("/".join(folders[start:]) for start in range(len(folders)))
    return [tail for tail in tails if (name := _module(tail)) in imported and name not in _STANDARD_MODULES]


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _with_first_future(lines: dict[LineNumber, str]) -> dict[LineNumber, str]:
    """Leave out the imports from `__future__` behind other code, where Python refuses them."""
    has_code = False
    kept = {}
    for number, line in sorted(lines.items()):
        is_future = _FUTURE.match(line) is not None
        kept[number] = "" if is_future and has_code else line
        has_code = has_code or not (is_future or line.lstrip().startswith("#") or not line.strip())
    return kept


def _text(lines: Mapping[LineNumber, str]) -> str:
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1)) + "\n"


def _indents(code: Mapping[LineNumber, str], lines: list[str]) -> dict[LineNumber, int]:
    found = {}
    for number, line in code.items():
        start = lines[number - 1].find(line) if number <= len(lines) else 0
        if line and start > 0:
            found[number] = start
    return found


def _notes(form: str, code: Mapping[LineNumber, str], parts: list[_Part]) -> Iterator[Diagnostic]:
    runs: list[list[LineNumber]] = []
    for number in sorted(code):
        if not runs or number != runs[-1][-1] + 1:
            runs.append([])
        runs[-1].append(number)
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    more = f" and in {len(shown) - _MOST_RUNS} more places" if len(shown) > _MOST_RUNS else ""
    words = "line" if shown == [str(runs[0][0])] else "lines"
    where = ", ".join(shown[:_MOST_RUNS])
    yield Diagnostic("note", f"The source is {form}. Its code is in {words} {where}{more}.", line=min(code))
    if middles := sorted({part.path or "a file" for part in parts if part.is_middle}):
        yield Diagnostic(
            "warning",
            f"The diff has only parts of {', '.join(middles)}.",
            line=min(code),
            hint="Paste the whole file, or the output of git diff -U99999.",
        )
