"""Gives a stub to each module that a script imports and that is not installed (see `import_stubs`).

Imports that the script tries, with a branch for their absence, are not replaced.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import linecache
import sys
import sysconfig
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType

import triton

from explorer.model import Diagnostic
from explorer.pipeline import import_stubs
from explorer.pipeline.import_stubs import Absence, ImportStub
from explorer.pipeline.user_files import ABOVE, shown_name
from explorer.pipeline.user_source import is_users, number_of

#: Packages that do not affect the launches. They are replaced without a note if they are not installed.
OPTIONAL_PACKAGES = ("pytest", "matplotlib", "pandas")

#: Compilers that PyTorch's operations import without using them here. Importing them takes seconds.
UNUSED_COMPILERS = ("torch._dynamo", "torch._inductor")

_SKIPPED_FRAMES = ("<frozen importlib", "<frozen zipimport")
_IMPORTERS = (__file__, import_stubs.__file__, importlib.__file__)
_FIND_SPEC_FILE = importlib.util.find_spec.__code__.co_filename
#: The folders of Python, of this program and of the packages that come with it.
_LIBRARIES = (
    *(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    f"{Path(triton.__file__).parent}/",
    f"{Path(__file__).parents[1]}/",
)

ABSENT_PACKAGE = "is not installed here."
ABSENT_FILES = "are not in the paste."
ABSENT_FILE = "is not in the paste."


class StubFinder(MetaPathFinder, Loader):
    """Makes stubs for modules, when it is placed on `sys.meta_path`. A subclass selects the modules."""

    def __init__(self) -> None:
        self._made: list[str] = []

    @abstractmethod
    def absence_of(self, name: str) -> Absence | None:
        """Return the reason why the module `name` gets a stub, or None if it gets none."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        absence = self.absence_of(name)
        if absence is None:
            return None
        return ModuleSpec(name, self, loader_state=absence, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._made.append(spec.name)
        return ImportStub(shown_name(spec.name), spec.loader_state, is_module=True)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: a stub has no code."""

    def remove(self) -> None:
        """Remove the stubs that were made from the imported modules."""
        for name in self._made:
            sys.modules.pop(name, None)
            parent, _, child = name.rpartition(".")
            if parent in sys.modules:
                vars(sys.modules[parent]).pop(child, None)


class KnownFinder(StubFinder):
    """Makes stubs for certain packages and their submodules."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self._names = names

    def absence_of(self, name: str) -> Absence | None:
        known = next((known for known in self._names if name == known or name.startswith(f"{known}.")), None)
        return Absence() if known else None


class MissingFinder(StubFinder):
    """Makes stubs for all modules that the user's code imports and that no other finder finds."""

    def __init__(self) -> None:
        super().__init__()
        self.absences: dict[str, Absence] = {}

    def absence_of(self, name: str) -> Absence | None:
        importer = _importer()
        if importer is None or _expects_absence(importer.f_code.co_filename, importer.f_lineno, name):
            return None
        parent = sys.modules.get(name.rpartition(".")[0])
        if isinstance(parent, ImportStub):
            absence: Absence = parent._absence
            return absence
        key = ABOVE if name.startswith(ABOVE) else name
        if key not in self.absences:
            line = number_of(importer.f_code.co_filename, importer.f_lineno)
            self.absences[key] = Absence(_absence_sentence(name, parent), line)
        return self.absences[key]


def _absence_sentence(name: str, parent: ModuleType | None) -> str:
    if name.startswith(ABOVE):
        return f"The files that the relative imports refer to {ABSENT_FILES}"
    if parent is None and not name.replace(".", "_").isidentifier():
        return f"The file {name}.py {ABSENT_FILE}"
    if parent is None:
        return f"The package {name} {ABSENT_PACKAGE}"
    version = getattr(parent, "__version__", "")
    return f"The module {name} is not in {parent.__name__}{f' {version}' if version else ''}."


def _importer() -> FrameType | None:
    """Return the frame of the user's code that imports a module now, or None if other code does."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file) or (file.startswith("/") and not file.startswith(_LIBRARIES)):
            return frame
        is_import = file in _IMPORTERS or file.startswith(_SKIPPED_FRAMES)
        if not is_import or file == _FIND_SPEC_FILE:  # `find_spec` tests whether a module exists.
            return None
        frame = frame.f_back
    return None


def _expects_absence(file: str, line: int, name: str) -> bool:
    """Return whether the import of `name` at `line` is in a `try` that continues without the module.

    A `try` that also imports Triton asks for Triton, which is installed.
    """
    return any(
        first <= line <= last and not (asks_for_triton and name.partition(".")[0] != "triton")
        for first, last, asks_for_triton in _optional_lines(file, "".join(linecache.getlines(file)))
    )


@lru_cache(maxsize=64)
def _optional_lines(_file: str, source: str) -> tuple[tuple[int, int, bool], ...]:
    """Return the first and last lines of the blocks in which an import may fail.

    The third value is whether the block imports Triton.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Try():
                goes_on = any(map(_goes_on_without, node.handlers))
            case ast.With():
                goes_on = any(map(_suppresses_import_error, node.items))
            case _:
                continue
        if goes_on:
            asks_for_triton = any(map(_imports_triton, node.body))
            found.append((node.body[0].lineno, node.body[-1].end_lineno or 0, asks_for_triton))
    return tuple(found)


def _imports_triton(statement: ast.stmt) -> bool:
    names = [each.name for each in statement.names] if isinstance(statement, ast.Import) else []
    if isinstance(statement, ast.ImportFrom) and not statement.level:
        names = [statement.module or ""]
    return any(each.partition(".")[0] == "triton" for each in names)


def _suppresses_import_error(item: ast.withitem) -> bool:
    call = item.context_expr
    return (
        isinstance(call, ast.Call)
        and _last_name(call.func) == "suppress"
        and any(map(_is_import_error, call.args))
    )


def _goes_on_without(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler catches a failed import and does not end the program."""
    caught = handler.type
    kinds: list[ast.expr | None] = [*caught.elts] if isinstance(caught, ast.Tuple) else [caught]
    last = handler.body[-1]
    ends = isinstance(last, ast.Raise) or (
        isinstance(last, ast.Expr)
        and isinstance(last.value, ast.Call)
        and _last_name(last.value.func) in ("exit", "quit", "_exit", "skip", "abort")
    )
    return not ends and any(kind is None or _is_import_error(kind) for kind in kinds)


def _is_import_error(kind: ast.expr) -> bool:
    return _last_name(kind) in ("ImportError", "ModuleNotFoundError", "Exception", "BaseException")


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


@contextmanager
def unused_compilers() -> Iterator[None]:
    """Make imports of PyTorch's compilers return stubs. Remove the stubs afterwards."""
    with _finding(
        KnownFinder(tuple(name for name in UNUSED_COMPILERS if name not in sys.modules)), first=True
    ):
        yield


@contextmanager
def missing_modules() -> Iterator[Callable[[], list[Diagnostic]]]:
    """Make the user's imports of missing modules return stubs. Remove the stubs afterwards.

    Yield a function that lists the notes about them.
    """
    missing = MissingFinder()
    with _finding(KnownFinder(OPTIONAL_PACKAGES)), _finding(missing):
        yield lambda: [absence.describe() for absence in missing.absences.values()]


@contextmanager
def _finding(finder: StubFinder, first: bool = False) -> Iterator[None]:
    sys.meta_path.insert(0 if first else len(sys.meta_path), finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        finder.remove()
