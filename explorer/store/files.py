"""Blobs in a folder, one compressed file each.

A file holds one zstd frame with a checksum. It is written under a temporary name and then renamed, so a
killed process leaves no incomplete file with a final name. Writes do not wait for the disk: after a power
failure, the files of the last seconds may be empty. `read` detects that, and the result is computed again.
"""

from __future__ import annotations

import hashlib
import math
import os
import uuid
from collections.abc import Callable, Container, Iterator
from contextlib import AbstractContextManager, suppress
from itertools import islice
from pathlib import Path

import zstandard

from explorer.errors import DamagedText
from explorer.monitoring.metrics import timed_blob
from explorer.store.address import Address
from explorer.store.batches import Batches, BlobBatch, StoredBytes
from explorer.store.blob_compression import check, compress, decode, decompress, parts_of
from explorer.store.failures import disk_failure
from explorer.store.folder_lock import FolderLock

_WRITERS = 4
_ABANDONED_AFTER_SECONDS = 24 * 3600
#: Another process may be about to store a result with a younger blob: no job takes longer.
YOUNG_SECONDS = 900
#: The number of blobs removed at once: a thread that writes one of them waits meanwhile.
_REMOVED_AT_ONCE = 1000
SUFFIX = ".zst"
_PROBE = os.urandom(4096)


class FileBlobStore:
    """A `BlobStore` in a folder.

    Raises:
        StoreError: the folder cannot be created.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.incoming = folder / "incoming"
        try:
            self.incoming.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if not folder.is_dir():  # otherwise its files can be read
                raise disk_failure(f"Cannot create the folder {self.incoming}", error) from error
        self._users = FolderLock(folder / "locks")
        self._remove_abandoned_files()
        self._batches = Batches(self, _WRITERS)
        self._stored = StoredBytes()

    def close(self) -> None:
        """Finish pending writes."""
        self._batches.close()
        self._users.close()

    def batch(self) -> BlobBatch:
        return self._batches.open()

    def path(self, address: Address) -> Path:
        """Return the path of a blob, whether it is stored or not."""
        return self.folder / f"{address}{SUFFIX}"

    def read(self, address: Address) -> bytes:
        data = self.read_if_sound(address)
        if data is None:
            raise DamagedText(f"The stored text {self.path(address)} is missing or damaged.")
        return data

    def stream(self, address: Address) -> Iterator[bytes]:
        digest = hashlib.sha256()
        with suppress(OSError, zstandard.ZstdError), self.path(address).open("rb") as file:
            for part in parts_of(file):
                digest.update(part)
                yield part
        if digest.hexdigest() != address:
            self.read(address)  # raises the failure
            raise DamagedText(f"The stored text {self.path(address)} was damaged.")

    def read_if_sound(self, address: Address) -> bytes | None:
        frame = self._frame(address)
        data = None if frame is None else decode(frame, address)
        if data is None:
            self.remove(address)
        return data

    def remove(self, address: Address) -> None:
        """Remove a damaged file, if the disk permits it."""
        with suppress(OSError):
            self.path(address).unlink()

    def read_frame(self, address: Address) -> bytes | None:
        frame = self._frame(address)
        return None if frame is None else check(frame, address)

    def _frame(self, address: Address) -> bytes | None:
        path = self.path(address)
        try:
            with timed_blob("folder", "read", expected=FileNotFoundError):
                return path.read_bytes()
        except FileNotFoundError as error:
            if not self.folder.is_dir():
                raise disk_failure(f"Cannot read the folder {self.folder}", error) from error
            return None
        except OSError as error:
            raise disk_failure(f"Cannot read the stored text {path}", error) from error

    def stored_bytes(self, address: Address) -> int:
        try:
            return self.path(address).stat().st_size
        except OSError:
            return 0

    @property
    def used_bytes(self) -> int:
        """The length of all files: measured when blobs are removed, plus the writes of this process."""
        return self._stored.total

    @property
    def young_bytes(self) -> int:
        """The part of `used_bytes` that will be removed when it is older."""
        return self._stored.young

    @property
    def needs_disk(self) -> bool:
        """True: blobs are files."""
        return True

    @property
    def free_bytes(self) -> int:
        return free_bytes(self.folder)

    def check(self) -> None:
        """Write a file to the folder, and remove it.

        Raises:
            StoreError: the file cannot be written; the message says why.
        """
        try:
            _write(self.incoming / f"probe.{uuid.uuid4().hex}", _PROBE, is_durable=True).unlink()
        except OSError as error:
            raise disk_failure(f"Cannot write to the folder {self.folder}", error) from error

    def sizes(self) -> Iterator[tuple[Address, int]]:
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if entry.name.endswith(SUFFIX):
                        address = entry.name.removesuffix(SUFFIX)
                        yield address, self.stored_bytes(address)
        except OSError as error:
            raise disk_failure(f"Cannot read the folder {self.folder}", error) from error

    def unpruned(self) -> AbstractContextManager[None]:
        return self._users.unpruned()

    def remove_unreferenced(self, find_referenced: Callable[[], Container[Address]]) -> int:
        """Remove the blobs that `find_referenced` does not return, and return the number of removed blobs.

        Blobs that a batch of this process has added stay, and so do young blobs if another process uses the
        folder: rows may soon refer to them.

        Raises:
            StoreError: another process removes blobs, or the disk is read-only.
        """
        with self._users.pruning() as is_alone, self._batches.kept():
            self._stored.begin()
            try:
                youngest = math.inf if is_alone else self._users.now() - YOUNG_SECONDS
                return self._remove_others(find_referenced(), youngest)
            except OSError as error:
                raise disk_failure(f"Cannot remove texts of {self.folder}", error) from error

    def _remove_others(self, referenced: Container[Address], youngest: float) -> int:
        kept_bytes = young_bytes = removed = 0
        addresses = (address for address, _ in self.sizes())
        while some := list(islice(addresses, _REMOVED_AT_ONCE)):
            with self._batches.removing([each for each in some if each not in referenced]) as doomed:
                for address in some:
                    path = self.path(address)
                    with suppress(FileNotFoundError):
                        found = path.stat()
                        if address in doomed and found.st_mtime <= youngest:
                            path.unlink()
                            removed += 1
                        else:
                            kept_bytes += found.st_size
                            young_bytes += found.st_size * (address in doomed)
        self._stored.end(kept_bytes, young_bytes)
        return removed

    def write(self, address: Address, data: bytes) -> int:
        """Store a blob, unless a sound file of it exists, and return the length of the file.

        Raises:
            StoreError: the blob cannot be stored.
        """
        path = self.path(address)
        incoming = self.incoming / f"{address}.{uuid.uuid4().hex}"
        try:
            self._users.use()
            stored = _read_if_equal(path, data)
            if stored is None:
                frame = compress(data)
                stored = len(frame)
                _write(incoming, frame).replace(path)
                self._stored.add(stored)
        except OSError as error:
            with suppress(OSError):
                incoming.unlink(missing_ok=True)
            raise disk_failure(f"Cannot write the text {address} to {self.folder}", error) from error
        return stored

    def _remove_abandoned_files(self) -> None:
        """Remove the files of killed processes. Recent files may belong to a living process."""
        with suppress(OSError):  # a read-only disk
            oldest = self._users.now() - _ABANDONED_AFTER_SECONDS
            for path in self.incoming.iterdir():
                if path.stat().st_mtime < oldest:
                    path.unlink(missing_ok=True)


def free_bytes(folder: Path) -> int:
    """Return the free space of the disk of a folder.

    Raises:
        StoreError: the folder cannot be used.
    """
    try:
        found = os.statvfs(folder)
    except OSError as error:
        raise disk_failure(f"Cannot use the folder {folder}", error) from error
    return found.f_bavail * found.f_frsize


def _read_if_equal(path: Path, data: bytes) -> int | None:
    """Return the length of a file that holds `data`, which becomes young; None if there is no such file."""
    try:
        os.utime(path)
        frame = path.read_bytes()
        return len(frame) if decompress(frame) == data else None
    except (FileNotFoundError, zstandard.ZstdError):
        return None


def _write(path: Path, data: bytes, *, is_durable: bool = False) -> Path:
    """Write a new file. With `is_durable`, wait until it is on disk."""
    with timed_blob("folder", "write"), path.open("xb") as file:
        file.write(data)
        if is_durable:
            file.flush()
            os.fsync(file.fileno())
    return path
