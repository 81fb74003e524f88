"""Calls a function after the program has imported a module. A process that never imports the module loses no
time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


def when_imported(name: str, action: Callable[[], object]) -> None:
    """Call a function once, after a module was imported; immediately if it is already imported."""
    if name in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, _Watcher(name, action))


class _Watcher(MetaPathFinder):
    """Calls a function once, after a module was imported."""

    def __init__(self, name: str, action: Callable[[], object]) -> None:
        self._name = name
        self._action = action

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_and_act(module: ModuleType) -> None:
            execute(module)
            self._action()

        spec.loader.exec_module = execute_and_act  # type: ignore[method-assign]  # of this loader only
        return spec
