"""Modules that scripts import for their tests and plots, for where these are not installed.

Whatever is asked of a stand-in gives another one; as a decorator it leaves its function alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

#: Packages without influence on what is launched.
NAMES = ("pytest", "matplotlib", "pandas")


class StandIn(ModuleType):
    """Accepts everything and does nothing."""

    __path__: Sequence[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self.__name__}.{name}")

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if arguments and isinstance(arguments[0], FunctionType):
            return arguments[0]
        return StandIn(self.__name__)

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *_error: object) -> None:
        """Accept the end of the context."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class StandInFinder:
    """Finds a stand-in where the import system has found nothing; the last on `sys.meta_path`."""

    def __init__(self) -> None:
        self._made: list[str] = []

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in NAMES:
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._made.append(spec.name)
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""

    def forget(self) -> None:
        """Take the stand-ins away again."""
        for name in self._made:
            sys.modules.pop(name, None)
