"""Blobs in a folder, one compressed file each.

A file holds one zstd frame with a checksum. It is written under a temporary name and then renamed, so a
process that is killed leaves no incomplete file with a final name. Nothing waits for the disk: after a power
failure, the files of the last seconds may be empty. `read` finds that out, and the result is computed again.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
import uuid
from collections.abc import Callable, Container, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

import zstandard

from explorer.errors import DamagedText
from explorer.store.address import Address, digest_of
from explorer.store.failures import disk_failure
from explorer.store.folder_lock import FolderLock

_WRITERS = 4
_ABANDONED_AFTER_SECONDS = 24 * 3600
#: Another process may be about to store a result with a blob that is younger: no job takes longer.
_YOUNG_SECONDS = 3600
_SUFFIX = ".zst"
_PART_BYTES = 256 << 10
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
            if not folder.is_dir():  # otherwise what it has can be read
                raise disk_failure(f"Cannot create the folder {self.incoming}", error) from error
        self._remove_abandoned_files()
        self.writers = ThreadPoolExecutor(_WRITERS, "blobs")
        self._users = FolderLock(folder / "locks")
        self._changing = threading.Lock()
        self._batches: WeakSet[FileBlobBatch] = WeakSet()
        #: While others are removed, the blobs of batches that are or were alive since that began.
        self._kept: set[Address] | None = None
        self._bytes = 0
        #: What was written since blobs were removed last.
        self._new_bytes = 0

    def close(self) -> None:
        """Finish pending writes."""
        self.writers.shutdown()
        self._users.close()

    def batch(self) -> FileBlobBatch:
        """Return a new, empty batch."""
        return FileBlobBatch(self)

    def path(self, address: Address) -> Path:
        """Return the path of a blob, whether it is stored or not."""
        return self.folder / f"{address}{_SUFFIX}"

    def read(self, address: Address) -> bytes:
        """Return a blob.

        Raises:
            DamagedText: it is missing or damaged.
            StoreError: the folder cannot be read.
        """
        data = self.read_if_sound(address)
        if data is None:
            raise DamagedText(f"The stored text {self.path(address)} is missing or damaged.")
        return data

    def stream(self, address: Address) -> Iterator[bytes]:
        """Yield the parts of a blob. Whether it is damaged is known at its end only.

        Raises:
            DamagedText: it is missing or damaged. A damaged file is removed.
            StoreError: the folder cannot be read.
        """
        digest = hashlib.sha256()
        with suppress(OSError, zstandard.ZstdError), self.path(address).open("rb") as file:
            for part in zstandard.ZstdDecompressor().read_to_iter(file, write_size=_PART_BYTES):
                digest.update(part)
                yield part
        if digest.hexdigest() != address:
            self.read(address)  # raises what is the matter
            raise DamagedText(f"The stored text {self.path(address)} was damaged.")

    def read_if_sound(self, address: Address) -> bytes | None:
        """Return a blob; None if it is missing or damaged. A damaged file is removed.

        Raises:
            StoreError: the folder cannot be read.
        """
        data = self._read(address)
        if data is None:
            with suppress(OSError):
                self.path(address).unlink()
        return data

    def is_sound(self, address: Address) -> bool:
        """Return whether a blob is stored and not damaged.

        Raises:
            StoreError: the folder cannot be read.
        """
        return self._read(address) is not None

    def _read(self, address: Address) -> bytes | None:
        path = self.path(address)
        try:
            data = decompress(path.read_bytes())
        except FileNotFoundError as error:
            if not self.folder.is_dir():
                raise disk_failure(f"Cannot read the folder {self.folder}", error) from error
            return None
        except zstandard.ZstdError:
            return None
        except OSError as error:
            raise disk_failure(f"Cannot read the stored text {path}", error) from error
        return data if digest_of(data) == address else None

    def stored_bytes(self, address: Address) -> int:
        """Return the length of the file of a blob; 0 if there is none."""
        try:
            return self.path(address).stat().st_size
        except OSError:
            return 0

    @property
    def used_bytes(self) -> int:
        """The length of all files: measured when blobs are removed; what this process writes is added."""
        return self._bytes

    @property
    def free_bytes(self) -> int:
        """The free space of the disk.

        Raises:
            StoreError: the folder cannot be used.
        """
        try:
            found = os.statvfs(self.folder)
        except OSError as error:
            raise disk_failure(f"Cannot use the folder {self.folder}", error) from error
        return found.f_bavail * found.f_frsize

    def check(self) -> None:
        """Write a file to the folder, and remove it.

        Raises:
            StoreError: it cannot be written; the message says why.
        """
        try:
            _write(self.incoming / f"probe.{uuid.uuid4().hex}", _PROBE, is_durable=True).unlink()
        except OSError as error:
            raise disk_failure(f"Cannot write to the folder {self.folder}", error) from error

    def addresses(self) -> Iterator[Address]:
        """Yield the addresses of all files.

        Raises:
            StoreError: the folder cannot be read.
        """
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if entry.name.endswith(_SUFFIX):
                        yield entry.name.removesuffix(_SUFFIX)
        except OSError as error:
            raise disk_failure(f"Cannot read the folder {self.folder}", error) from error

    def remove_unreferenced(self, find_referenced: Callable[[], Container[Address]]) -> int:
        """Remove all blobs but those that `find_referenced` finds, and return how many there were.

        Blobs that a batch of this process has added stay, and so do young ones if another process uses the
        folder: rows may soon refer to them.

        Raises:
            StoreError: another process removes blobs, or the disk is read-only.
        """
        with self._users.pruning() as is_alone:
            youngest = time.time() - (0 if is_alone else _YOUNG_SECONDS)
            with self._changing:
                self._kept = {address for batch in self._batches for address in batch.addresses}
                self._new_bytes = 0
            try:
                return self._remove_others(find_referenced(), youngest)
            except OSError as error:
                raise disk_failure(f"Cannot remove texts of {self.folder}", error) from error
            finally:
                self._kept = None

    def _remove_others(self, referenced: Container[Address], youngest: float) -> int:
        kept_bytes = removed = 0
        for address in self.addresses():
            path = self.path(address)
            with suppress(FileNotFoundError):
                found = path.stat()
                if address not in referenced and found.st_mtime <= youngest:
                    with self._changing:
                        assert self._kept is not None
                        if address not in self._kept:
                            path.unlink()
                            removed += 1
                            continue
                kept_bytes += found.st_size
        with self._changing:
            self._bytes = kept_bytes + self._new_bytes
        return removed

    def keep(self, batch: FileBlobBatch, address: Address) -> None:
        """Protect a blob of a batch from being removed, as long as the batch exists."""
        with self._changing:
            self._batches.add(batch)
            batch.addresses.add(address)
            if self._kept is not None:
                self._kept.add(address)

    def release(self, batch: FileBlobBatch) -> None:
        """Protect the blobs of a batch no longer."""
        with self._changing:
            self._batches.discard(batch)
            batch.addresses.clear()

    def write(self, address: Address, data: bytes) -> int:
        """Store a blob, unless a sound file of it exists, and return the length of the file.

        Raises:
            StoreError: it cannot be stored.
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
                with self._changing:
                    self._bytes += stored
                    self._new_bytes += stored
        except OSError as error:
            with suppress(OSError):
                incoming.unlink(missing_ok=True)
            raise disk_failure(f"Cannot write the text {address} to {self.folder}", error) from error
        return stored

    def _remove_abandoned_files(self) -> None:
        """Remove what killed processes left. Recent files may belong to a process that is alive."""
        oldest = time.time() - _ABANDONED_AFTER_SECONDS
        with suppress(OSError):  # a read-only disk
            for path in self.incoming.iterdir():
                if path.stat().st_mtime < oldest:
                    path.unlink(missing_ok=True)


class FileBlobBatch:
    """A `BlobBatch` whose blobs are written in the background."""

    def __init__(self, store: FileBlobStore) -> None:
        self.addresses: set[Address] = set()
        self._store = store
        self._pending: dict[Address, bytes] = {}
        self._writes: dict[Address, Future[int]] = {}

    def add(self, text: str | bytes) -> Address:
        """Start to write a blob and return its address. A blob that is stored already is not written."""
        data = text if isinstance(text, bytes) else text.encode("utf-8", errors="replace")
        address = digest_of(data)
        if address not in self._writes:
            self._store.keep(self, address)
            self._pending[address] = data
            self._writes[address] = self._store.writers.submit(self._write, address, data)
        return address

    def read(self, address: Address) -> bytes:
        """Return a blob of this batch or of the store."""
        data = self._pending.get(address)
        return self._store.read(address) if data is None else data

    def commit(self) -> int:
        """Wait until all blobs have files, and return their length. Then rows may refer to them."""
        return sum(write.result() for write in self._writes.values())

    def discard(self) -> None:
        """Cancel pending writes. Files that are written stay until pruned: others may refer to them."""
        for write in self._writes.values():
            write.cancel()
        wait(self._writes.values())
        self._pending.clear()
        self._store.release(self)

    def _write(self, address: Address, data: bytes) -> int:
        stored = self._store.write(address, data)
        del self._pending[address]
        return stored


def compress(data: bytes) -> bytes:
    """Compress into one zstd frame with a checksum."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def decompress(frame: bytes) -> bytes:
    """Decompress one frame; raise `ZstdError` if it is damaged."""
    try:
        return zstandard.ZstdDecompressor().decompress(frame)
    except MemoryError as error:  # the length in its header is damaged
        raise zstandard.ZstdError("the length is wrong") from error


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
    with path.open("xb") as file:
        file.write(data)
        if is_durable:
            file.flush()
            os.fsync(file.fileno())
    return path
