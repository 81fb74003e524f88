"""The installed Triton versions, found without importing any of them.

These are the version of the interpreter, and every folder with a `triton` package and its metadata in
`<sys.prefix>/tritons/` and in the folder that the settings name. All of them share the interpreter's torch.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import sys
from collections.abc import Collection
from pathlib import Path

from packaging.version import InvalidVersion, Version

#: The folder of the versions beside the interpreter's version. The settings may name a second folder.
BESIDE = Path(sys.prefix) / "tritons"


def installed_versions(
    tritons_dir: Path | None = None, offered: Collection[str] = ()
) -> dict[str, Path | None]:
    """Map each version, newest first, to its folder. None is the interpreter's own version.

    If versions are `offered`, all other versions are left out.
    """
    found: dict[str, Path | None] = {}
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        found[importlib.metadata.version("triton")] = None
    for folder in version_folders(tritons_dir):
        for distribution in importlib.metadata.distributions(name="triton", path=[str(folder)]):
            if (folder / "triton").is_dir():
                found.setdefault(distribution.version, folder)
    newest_first = sorted(found.items(), key=lambda item: version_key(item[0]), reverse=True)
    return {version: folder for version, folder in newest_first if not offered or version in offered}


def version_folders(tritons_dir: Path | None = None) -> list[Path]:
    """Return the folders that may have a version. A hidden folder is being added or removed."""
    found: list[Path] = []
    for parent in dict.fromkeys((tritons_dir or BESIDE, BESIDE)):
        with contextlib.suppress(OSError):
            found += sorted(each for each in parent.iterdir() if not each.name.startswith("."))
    return found


def version_key(version: str) -> Version:
    """Return the sort key of a version. A name that is no version comes first."""
    try:
        return Version(version)
    except InvalidVersion:
        return Version("0")


class InstalledVersions:
    """The installed versions, which are read again after a change of their folders. Thread-safe.

    The arguments have the meaning of `installed_versions`.
    """

    def __init__(self, tritons_dir: Path | None, offered: Collection[str] = ()) -> None:
        self._tritons_dir = tritons_dir
        self._offered = offered
        self._known: tuple[list[int], dict[str, Path | None]] = ([], {})

    @property
    def now(self) -> dict[str, Path | None]:
        """Each version, newest first, with its folder. None is the interpreter's own version."""
        state = [_changed(each) for each in (self._tritons_dir, BESIDE)]
        if state != self._known[0]:
            self._known = (state, installed_versions(self._tritons_dir, self._offered))
        return self._known[1]


def _changed(folder: Path | None) -> int:
    """Return when an entry of a folder was last added or removed."""
    try:
        return folder.stat().st_mtime_ns if folder else 0
    except OSError:
        return 0
