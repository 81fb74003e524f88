"""Writes a capture: blobs by their digests, a file for each kernel, graph of PyTorch, and process.

Each file is written under another name and renamed, so that no reader sees half of it. Processes and threads
write at the same time: equal files have equal names, so that it does not matter which of them is the last.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import threading
from pathlib import Path
from typing import Any

#: The version of the format. A reader refuses later versions.
VERSION = 1
DEFAULT_LIMIT_BYTES = 2 << 30

#: The sizes of the files of all processes are added up again after this share of the limit was written.
_RECOUNT_SHARE = 1 / 32


class CaptureFull(Exception):
    """The folder has reached its limit."""


class CaptureFolder:
    """A folder that holds `limit_bytes` at most, plus the bytes that all processes write during one count."""

    def __init__(self, path: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        """Create the folder, unless it exists."""
        self.path = path
        self._limit_bytes = limit_bytes
        self._names = itertools.count()
        self.begin_process()
        for name in ("blobs", "graphs", "kernels", "processes"):
            (path / name).mkdir(parents=True, exist_ok=True)
        self._present_bytes = self._count()
        self._written_bytes = 0
        self.write("capture.json", _json({"format": "triton-explorer capture", "version": VERSION}))

    def begin_process(self) -> None:
        """Replace the lock, which another thread may hold where a process is forked."""
        self._lock = threading.Lock()

    def add_blob(self, data: bytes) -> str:
        """Store a text or a binary, and return its SHA-256, which is its name.

        Raises:
            CaptureFull: the limit is reached.
        """
        digest = hashlib.sha256(data).hexdigest()
        if not (self.path / "blobs" / digest).exists():
            self._reserve(len(data))
            self.write(f"blobs/{digest}", data)
        return digest

    def add_kernel(self, identity: str, document: dict[str, Any]) -> None:
        """Store the document of a kernel under its identity.

        Raises:
            CaptureFull: the limit is reached.
        """
        data = _json(document)
        self._reserve(len(data))
        self.write(f"kernels/{identity}.json", data)

    def add_graph(self, document: dict[str, Any]) -> None:
        """Store the document of a graph under its digest.

        Raises:
            CaptureFull: the limit is reached.
        """
        data = _json(document)
        name = f"graphs/{hashlib.sha256(data).hexdigest()}.json"
        if not (self.path / name).exists():
            self._reserve(len(data))
            self.write(name, data)

    def has_kernel(self, identity: str) -> bool:
        """Return whether the document of a kernel is there."""
        return (self.path / "kernels" / f"{identity}.json").exists()

    def write_process(self, name: str, document: dict[str, Any]) -> None:
        """Store or replace the document of a process."""
        self.write(f"processes/{name}.json", _json(document))

    def write(self, name: str, data: bytes) -> None:
        """Write a file under another name and rename it."""
        temporary = self.path / f".{os.getpid()}-{threading.get_ident()}-{next(self._names)}.part"
        try:
            temporary.write_bytes(data)
            temporary.replace(self.path / name)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise

    def _reserve(self, size: int) -> None:
        with self._lock:
            if self._written_bytes > self._limit_bytes * _RECOUNT_SHARE:
                self._present_bytes, self._written_bytes = self._count(), 0
            if self._present_bytes + self._written_bytes + size > self._limit_bytes:
                raise CaptureFull
            self._written_bytes += size

    def _count(self) -> int:
        total = 0
        for name in ("blobs", "graphs", "kernels"):
            with os.scandir(self.path / name) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        total += entry.stat().st_size
        return total


def _json(document: dict[str, Any]) -> bytes:
    # Not `allow_nan`: other languages refuse NaN. A lone surrogate of a source becomes "?".
    return json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
