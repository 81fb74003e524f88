"""Modules that scripts import for their tests and plots, for where these are not installed.

Whatever is asked of a stand-in gives another one; as a decorator it leaves its function alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

#: Packages without influence on what is launched, for where they are not installed.
OPTIONAL_PACKAGES = ("pytest", "matplotlib", "pandas")

#: Compilers of PyTorch that its operations import in passing: seconds, for nothing that happens here.
UNUSED_COMPILERS = ("torch._dynamo", "torch._inductor")


class StandIn(ModuleType):
    """Accepts everything and does nothing."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn(f"{self.__name__}.{name}")

    def __call__(self, *arguments: Any, **_options: Any) -> Any:
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
    """Finds stand-ins for packages and what is in them, wherever it is put on `sys.meta_path`."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self.made: list[str] = []

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        if not any(name == known or name.startswith(f"{known}.") for known in self._names):
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self.made.append(spec.name)
        return StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


@contextmanager
def stand_ins() -> Iterator[None]:
    """Let imports of what is not needed give stand-ins; take these away again afterwards."""
    unused = StandInFinder(tuple(name for name in UNUSED_COMPILERS if name not in sys.modules))
    optional = StandInFinder(OPTIONAL_PACKAGES)
    sys.meta_path.insert(0, unused)
    sys.meta_path.append(optional)
    try:
        yield
    finally:
        sys.meta_path.remove(unused)
        sys.meta_path.remove(optional)
        for name in unused.made + optional.made:
            sys.modules.pop(name, None)
            parent, _, child = name.rpartition(".")
            if parent in sys.modules:
                vars(sys.modules[parent]).pop(child, None)
