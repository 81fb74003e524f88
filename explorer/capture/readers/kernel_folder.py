"""Reads Triton's cache and the output of TRITON_KERNEL_DUMP: a folder for each kernel, a file for each stage.

The cache also has the metadata of each kernel. A dump has no metadata: the target and the warps are in its
TTGIR, and the version of Triton is not known.

Source: triton/compiler/compiler.py and triton/runtime/cache.py, 3.6.0 and 3.9.0.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from explorer.capture.read import CannotRead, CapturedKernel, Damaged, decode, read_file, stage_text
from explorer.capture.readers.imported import STAGE_NAMES, imported_kernel
from explorer.capture.readers.source import LocalSources, lines_by_file, write_script
from explorer.errors import InvalidRequest
from explorer.model.limits import MOST_CAPTURED_KERNELS, MOST_TEXT_BYTES

_MOST_FOLDERS = 200_000
_MOST_FILES = 1_000
_METADATA_BYTES = 4 << 20
_GROUP = "__grp__"

_TARGET = re.compile(r'ttg\.target = "([a-z]{1,20}):([a-z0-9]{1,20})"')
_NUMBERS = {
    "num_warps": re.compile(r'"ttg\.num-warps" = (\d{1,4}) : i32'),
    "num_ctas": re.compile(r'"ttg\.num-ctas" = (\d{1,4}) : i32'),
    "warp_size": re.compile(r'"ttg\.threads-per-warp" = (\d{1,4}) : i32'),
}


class _FolderReader(ABC):
    """Reads a folder with a folder for each kernel, or the folder of one kernel."""

    #: Why the source is missing.
    missing: str

    def __init__(self, path: Path, sources: LocalSources | None) -> None:
        self.programs: list[str] = []
        self._path = path
        self._sources = sources

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Return whether a folder has a kernel in this format."""
        if not path.is_dir():
            return False
        return any(any(cls.names(_files(folder))) for folder in _folders(path))

    def kernels(self) -> Iterator[CapturedKernel | Damaged]:
        """Yield all kernels, in the order in which their folders were made.

        Raises:
            InvalidRequest: there are more kernels than a session may have.
        """
        count = 0
        for folder in _folders(self._path):
            files = _files(folder)
            for name in self.names(files):
                count += 1
                if count > MOST_CAPTURED_KERNELS:
                    raise InvalidRequest(
                        f"{self._path} has more than {MOST_CAPTURED_KERNELS:,} kernels, the limit of a "
                        "session. Name a folder with some of their folders."
                    )
                place = name if folder == self._path else f"{folder.name}/{name}"
                try:
                    yield self._kernel(folder, place, name, files)
                except CannotRead as error:
                    yield Damaged(place, str(error))

    @staticmethod
    @abstractmethod
    def names(files: Iterable[str]) -> Iterator[str]:
        """Yield the names of the kernels that a folder with these files has, without a suffix."""

    @abstractmethod
    def metadata(self, folder: Path, name: str, stages: dict[str, str]) -> dict[str, Any]:
        """Return a kernel with its known metadata.

        Raises:
            CannotRead: a file is damaged.
        """

    def _kernel(self, folder: Path, place: str, name: str, files: list[str]) -> CapturedKernel:
        stages = {}
        for file in files:
            base, _, stage = file.rpartition(".")
            if base == name and stage in STAGE_NAMES:
                stages[stage] = stage_text(stage, read_file(folder / file, MOST_TEXT_BYTES))
        metadata = self.metadata(folder, name, stages)
        lines = lines_by_file(stages)
        known, problem = self._sources.functions_by_file(lines) if self._sources else ({}, "")
        script = write_script(name, next(iter(lines), ""), problem or self.missing, lines, known)
        return imported_kernel(place, name, metadata, stages, script)


class TritonCacheReader(_FolderReader):
    """Reads Triton's cache, or the folder of one kernel in it."""

    missing = "Triton's cache does not have it"

    @staticmethod
    def names(files: Iterable[str]) -> Iterator[str]:
        """Yield the kernels that are complete: Triton writes the file of the group last."""
        return (file[len(_GROUP) : -len(".json")] for file in files if re.fullmatch(r"__grp__.+\.json", file))

    def metadata(self, folder: Path, name: str, stages: dict[str, str]) -> dict[str, Any]:
        """Return Triton's metadata. The paths in the file of the group are not followed."""
        del stages
        return decode(read_file(folder / f"{name}.json", _METADATA_BYTES), dict[str, Any])


class DumpReader(_FolderReader):
    """Reads the folder that TRITON_DUMP_DIR names, or the folder of one kernel in it."""

    missing = "TRITON_KERNEL_DUMP does not write it"

    @staticmethod
    def names(files: Iterable[str]) -> Iterator[str]:
        """Yield the kernels with a TTGIR: without one, their target is not known."""
        return (file[: -len(".ttgir")] for file in files if file.endswith(".ttgir") and file != ".ttgir")

    def metadata(self, folder: Path, name: str, stages: dict[str, str]) -> dict[str, Any]:
        """Return the metadata from the attributes of the module in TTGIR."""
        del folder, name
        module = stages["ttgir"]
        target = _TARGET.search(module)
        if target is None:
            raise CannotRead("its TTGIR names no target")
        found = {key: each for key, pattern in _NUMBERS.items() if (each := pattern.search(module))}
        numbers = {key: int(each[1]) for key, each in found.items()}
        parts = {"backend": target[1], "arch": target[2], "warp_size": numbers.get("warp_size", 32)}
        return {**numbers, "target": parts}


def _folders(path: Path) -> list[Path]:
    """Return a folder and the folders in it, in the order of their times. Links are left out."""
    found: list[tuple[int, str]] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
                if len(found) > _MOST_FOLDERS:
                    raise InvalidRequest(f"{path} has more than {_MOST_FOLDERS:,} folders, the limit.")
    except OSError as error:
        raise InvalidRequest(f"Cannot read {path}: {error.strerror}.") from error
    return [path, *(path / name for _, name in sorted(found))]


def _files(folder: Path) -> list[str]:
    """Return the names of the files, at most 1,000 of them. Links and folders are left out."""
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) == _MOST_FILES:
                    break
                if entry.is_file(follow_symlinks=False):
                    found.append(entry.name)
    except OSError:  # removed, or of another user
        return []
    return sorted(found)
