"""The files beside a script: their paths in a request, and which of a folder's files a script imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from explorer.errors import InvalidRequest
from explorer.model.python_source import parse

MOST_FILES = 2000
LONGEST_PATH = 300

#: Folders and a name, without "." and "..".
_PATH = re.compile(r"(?:(?!\.)[\w .+-]+/)*(?!\.)[\w .+-]+\.py")


def check_files(path: str, files: Iterable[str]) -> None:
    """Check the path of a script and of the files beside it.

    Raises:
        InvalidRequest: a path is not a relative path of a Python file.
    """
    for each in (*([path] if path else []), *files):
        if not _PATH.fullmatch(each) or len(each) > LONGEST_PATH:
            raise InvalidRequest(
                f"{each[:100]!r} is not the path of a Python file below a folder. "
                "Write it like 'kernels/softmax.py'."
            )


def read_imported(script: Path, root: Path) -> tuple[str, dict[str, str]]:
    """Return the path of a script below `root`, and the files there that it imports, directly or not.

    A file that imports modules by computed names may import any module below its folder. As many of these
    files are included as a request may have.

    Raises:
        InvalidRequest: the script is not below `root`, or imports too many files, or a file cannot be read.
    """
    root, script = root.resolve(), script.resolve()
    if not script.is_relative_to(root):
        raise InvalidRequest(f"{script} is not in the folder {root}. Pass a folder above it to --root.")
    found: dict[str, str] = {}
    _add_imported(script, root, found, MOST_FILES + 2)
    if len(found) > MOST_FILES + 1:
        raise InvalidRequest(f"{script} imports more than {MOST_FILES} files of {root}. Pass another --root.")
    for folder in sorted(
        {root.joinpath(path).parent for path, text in found.items() if _computes_names(text)}
    ):
        for file in sorted(folder.rglob("*.py")):
            if _PATH.fullmatch(file.relative_to(root).as_posix()):
                _add_imported(file, root, found, MOST_FILES + 1)
    path = script.relative_to(root).as_posix()
    del found[path]
    check_files(path, found)
    return path, found


def _add_imported(first: Path, root: Path, found: dict[str, str], most: int) -> None:
    """Add a file and its imports to `found`, until there are `most` files."""
    waiting = [first]
    while waiting and len(found) < most:
        file = waiting.pop()
        path = file.relative_to(root).as_posix()
        if path in found:
            continue
        found[path] = text = _read(file)
        for module in _imported_modules(text, path):
            waiting += _files_of(module, root)


def _computes_names(text: str) -> bool:
    """Return whether a file imports modules by names that are not constants."""
    if "import_module" not in text and "__import__" not in text:
        return False
    try:
        nodes = ast.walk(parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(
        isinstance(node, ast.Call)
        and _called_name(node) in ("import_module", "__import__")
        and node.args
        and not isinstance(node.args[0], ast.Constant)
        for node in nodes
    )


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"Cannot read {file}: {error}.") from error


def _imported_modules(text: str, path: str) -> Iterator[str]:
    """Yield the absolute names of the modules that a file may import, with names that may be modules."""
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    package = PurePosixPath(path).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*above, *([node.module] if node.module else [])))
            yield module
            yield from (f"{module}.{name.name}".lstrip(".") for name in node.names)
        elif isinstance(node, ast.Call) and node.args and _called_name(node) == "import_module":
            name = node.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield name.value


def _called_name(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _files_of(module: str, root: Path) -> Iterator[Path]:
    """Yield the files below `root` that importing a module executes."""
    parts = [part for part in module.split(".") if part]
    for count in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:count])
        for file in (place / "__init__.py", place.with_name(f"{place.name}.py")):
            if file.is_file() and file.resolve().is_relative_to(root):
                yield file
