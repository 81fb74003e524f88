"""Starts the capture of the process. Python imports this module at its start if `PYTHONPATH` has this folder.

The module also imports the `sitecustomize` that it hides. Without the variable TRITON_EXPLORER_CAPTURE it
does nothing else.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _start_capture() -> None:
    folder = os.environ.get("TRITON_EXPLORER_CAPTURE")
    if not folder:
        return
    package = _HERE.parents[1]
    if "explorer" not in sys.modules and importlib.util.find_spec("explorer") is None:
        # The program's own environment lacks the package. Only this package is added to it.
        spec = importlib.util.spec_from_file_location(
            "explorer", package / "__init__.py", submodule_search_locations=[str(package)]
        )
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["explorer"] = module
        spec.loader.exec_module(module)
    try:
        from explorer.capture.imports import capture_when_imported
    except ImportError as error:
        print(f"triton-explorer: nothing is captured, because of another package: {error}", file=sys.stderr)
        return
    capture_when_imported(
        folder,
        os.environ.get("TRITON_EXPLORER_CAPTURE_TARGET", ""),
        os.environ.get("TRITON_EXPLORER_CAPTURE_LIMIT", ""),
    )


def _import_hidden() -> None:
    """Import the `sitecustomize` that Python would have imported."""
    others = [folder for folder in sys.path if Path(folder or ".").resolve() != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if __name__ == "sitecustomize":
    _start_capture()
    _import_hidden()
