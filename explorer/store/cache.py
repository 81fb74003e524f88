"""Copies of blobs in a folder of bounded size. The least recently read copy is removed first.

A copy is a file with the frame of a blob, named after its address. Copies are not trusted: each read checks
the content against the address. A folder that cannot be written is no failure, since the blobs are elsewhere.
"""

from __future__ import annotations

import logging
import os
import threading
import uuid
from contextlib import suppress
from pathlib import Path

from explorer.store.address import Address

_SUFFIX = ".zst"
#: The share of the size that copies take after a removal, which looks at all files.
_TARGET_SHARE = 0.9
_log = logging.getLogger(__name__)


class BlobCache:
    """Copies in a folder, which take at most `most_bytes`. Safe to use from many threads.

    Several processes may use one folder. Each counts its own writes, and finds the files of the other
    processes when it makes space.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        #: The size of the copies, as far as this process knows; None before it has looked.
        self._bytes: int | None = None
        self._changing = threading.Lock()
        #: Why the last write to the folder failed; each reason is logged once.
        self._failure = ""

    def read(self, address: Address) -> bytes | None:
        """Return a copy, or None."""
        path = self._path(address)
        with suppress(OSError):
            frame = path.read_bytes()
            os.utime(path)
            return frame
        return None

    def write(self, address: Address, frame: bytes) -> None:
        """Add a copy, if there is space for it."""
        if len(frame) > _TARGET_SHARE * self._most_bytes:
            return
        incoming = self._folder / f"{address}.{uuid.uuid4().hex}"
        try:
            with self._changing:
                self._make_space(len(frame))
                incoming.write_bytes(frame)
                incoming.replace(self._path(address))
            self._failure = ""
        except OSError as error:
            with suppress(OSError):
                incoming.unlink(missing_ok=True)
            reason = error.strerror or str(error)
            if self._failure != reason:
                self._failure = reason
                _log.warning("The cache %s cannot be written: %s", self._folder, reason)

    def remove(self, address: Address) -> None:
        with suppress(OSError):
            self._path(address).unlink()

    def _path(self, address: Address) -> Path:
        return self._folder / f"{address}{_SUFFIX}"

    def _make_space(self, size: int) -> None:
        """Count a copy of this size, and remove other copies if there is too little space."""
        if self._bytes is None or self._bytes + size > self._most_bytes:
            self._bytes = self._shrink(size)
        self._bytes += size

    def _shrink(self, size: int) -> int:
        """Remove copies until one of this size fits, and return the size of the rest."""
        found = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # another process has removed the file
                    if entry.is_file():
                        found.append((entry.path, entry.stat()))
        total = sum(status.st_size for _, status in found)
        if total + size <= self._most_bytes:
            return total
        for path, status in sorted(found, key=lambda each: each[1].st_mtime_ns):
            if total + size <= _TARGET_SHARE * self._most_bytes:
                break
            Path(path).unlink(missing_ok=True)
            total -= status.st_size
        return total
