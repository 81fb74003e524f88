"""Which Triton versions are installed here, found without importing any of them.

The interpreter's own, and every folder that holds a `triton` package with its metadata: those below
`<sys.prefix>/tritons/`, and those that the settings name. All of them share the interpreter's torch.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.version import InvalidVersion, Version


def installed_versions(folders: Iterable[Path] = ()) -> dict[str, Path | None]:
    """Map each version, newest first, to its folder; None: the interpreter's own."""
    found: dict[str, Path | None] = {}
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        found[importlib.metadata.version("triton")] = None
    beside = Path(sys.prefix) / "tritons"
    for folder in (*folders, *(sorted(beside.iterdir()) if beside.is_dir() else ())):
        for distribution in importlib.metadata.distributions(name="triton", path=[str(folder)]):
            if (folder / "triton").is_dir():
                found.setdefault(distribution.version, folder)
    return dict(sorted(found.items(), key=lambda item: _order(item[0]), reverse=True))


def _order(version: str) -> Version:
    try:
        return Version(version)
    except InvalidVersion:
        return Version("0")
