"""The files beside a script: modules that it imports by their names or relatively, without files on a disk.

In: texts by path. A path is relative to a root folder, with slashes: "kernels/softmax.py". As with Python's
path of a script, these modules come before installed packages, but do not replace imported modules.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from explorer.pipeline import user_source
from explorer.pipeline.user_source import SOURCE_FILE

#: Represents a folder above the known files. Relative imports of a single script lead to it.
ABOVE = "folder_above"


def package_of(tree: ast.Module, path: str) -> str | None:
    """Return the package of a script at `path`, or None if it needs none, having no relative imports.

    Folders above the root are added for imports that lead there.
    """
    levels = [node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    folders = path.split("/")[:-1]
    deepest = max(levels, default=0)
    return ".".join([ABOVE] * (deepest - len(folders)) + folders) if deepest else None


def shown_name(module: str) -> str:
    """Return a module's name as the user writes it: the name in a relative import begins with a dot."""
    parts = module.split(".")
    known = [part for part in parts if part != ABOVE]
    return module if len(known) == len(parts) else f".{'.'.join(known)}"


class UserFileFinder(MetaPathFinder, Loader):
    """Finds the modules of `files` when it is placed on `sys.meta_path`. `names` are put into each module.

    A script may need only a part of a package: if its `__init__.py` fails, the package keeps its definitions,
    and `rest_of` makes the other names.
    """

    def __init__(
        self,
        files: Mapping[str, str],
        names: Mapping[str, Any],
        rest_of: Callable[[str, Exception], Callable[[str], Any]],
    ) -> None:
        self._files = files
        self._names = names
        self._rest_of = rest_of
        self._folders = {path[:end] for path in files for end in range(len(path)) if path[end] == "/"}
        self._loaded: list[str] = []
        #: The global names of each module whose code was pasted together with the script.
        self.pasted: list[dict[str, Any]] = []

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        parts = [part for part in name.split(".") if part != ABOVE]
        for folder in self._search_path():
            place = "/".join([*folder, *parts])
            for path in (f"{place}/__init__.py", f"{place}.py"):
                if path in self._files:
                    return self._spec(name, path)
            if place in self._folders or (self._files and not parts):
                return self._spec(name, None)
        return None

    def _search_path(self) -> Iterator[list[str]]:
        """Yield the root, and the folders that the user's code has put on Python's path."""
        yield []
        for entry in sys.path:
            folder = os.path.relpath(entry) if isinstance(entry, str) and entry else ""
            if folder in self._folders:
                yield folder.split("/")

    def _spec(self, name: str, path: str | None) -> ModuleSpec:
        """Describe the module at `path`; None: a folder without `__init__.py`."""
        is_package = path is None or path.endswith("/__init__.py")
        origin = None if path is None else user_source.file_of_module(path)
        return ModuleSpec(name, self, origin=origin, loader_state=path, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> None:
        self._loaded.append(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        path = module.__spec__.loader_state
        if path is None:
            return
        file, source = user_source.file_of_module(path), user_source.normalize(self._files[path])
        if file == SOURCE_FILE:  # The whole paste is registered.
            self.pasted.append(vars(module))
        else:
            user_source.register(source, file)
        vars(module).update(self._names, __file__=file)
        try:
            code = user_source.compile_statements(ast.parse(source, file).body, file)
            exec(code, vars(module))  # noqa: S102  the user's code is what this process is for
        except Exception as error:  # User code may raise any exception.
            if not path.endswith("/__init__.py"):
                raise
            vars(module)["__getattr__"] = self._rest_of(module.__name__, error)

    def forget(self) -> None:
        """Remove the modules from the imported modules: the script may be executed again."""
        for name in self._loaded:
            sys.modules.pop(name, None)


@contextmanager
def user_files(
    files: Mapping[str, str],
    names: Mapping[str, Any],
    rest_of: Callable[[str, Exception], Callable[[str], Any]],
) -> Iterator[UserFileFinder]:
    """Make the modules of `files` importable. `rest_of` makes the missing names of a failed package."""
    finder = UserFileFinder(files, names, rest_of)
    sys.meta_path.insert(0, finder)
    try:
        yield finder
    finally:
        sys.meta_path.remove(finder)
        finder.forget()
