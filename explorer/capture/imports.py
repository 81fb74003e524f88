"""Starts a capture when the program imports Triton, so that a process without it loses no time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from explorer.capture.folder import DEFAULT_LIMIT_BYTES
from explorer.capture.session import start


def capture_when_imported(folder: str, target: str = "", limit_bytes: str = "") -> None:
    """Start a capture as soon as the program has imported Triton.

    With `target`, the program sees a fake GPU of it as soon as it has imported PyTorch.
    """
    limit = int(limit_bytes or DEFAULT_LIMIT_BYTES)
    if not target:
        sys.meta_path.insert(0, _Watcher("triton", lambda: start(folder, limit_bytes=limit)))
        return

    def start_without_gpu() -> None:
        from explorer.capture.without_gpu import use_fake_gpu

        use_fake_gpu(target, start(folder, limit_bytes=limit))

    sys.meta_path.insert(0, _Watcher("torch", start_without_gpu))


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
