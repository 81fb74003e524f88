"""Texts by the hash of what they say: written once, compressed, never changed.

A blob is a file that holds one zstd frame with a checksum. It comes into being by a rename of a file that
is complete and on the disk, so whoever finds it finds all of it.
"""

from __future__ import annotations

import os
import time
import uuid
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import zstandard

from explorer.errors import StoreError
from explorer.store.address import digest_of

Address = str

_WRITERS = 4  # the disk joins what several of them wait for
_ABANDONED_AFTER_SECONDS = 24 * 3600


class BlobStore:
    """A folder of blobs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.incoming = folder / "incoming"
        try:
            self.incoming.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"Cannot make the folder {self.incoming}: {error.strerror}.") from error
        self._sweep()
        self.writers = ThreadPoolExecutor(_WRITERS, "blobs")

    def close(self) -> None:
        """Wait for what is being written."""
        self.writers.shutdown()

    def batch(self) -> BlobBatch:
        """Start to collect the blobs of one result."""
        return BlobBatch(self)

    def path(self, address: Address) -> Path:
        """Where the blob is, or would be."""
        return self.folder / f"{address}.zst"

    def read(self, address: Address) -> bytes:
        """The bytes of a blob.

        Raises:
            StoreError: it is missing or damaged.
        """
        try:
            return unpack(self.path(address).read_bytes())
        except (OSError, zstandard.ZstdError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is damaged"
            raise StoreError(
                f"The stored text {address} cannot be read: {reason}. Restore it in the data folder."
            ) from error

    def read_if_sound(self, address: Address) -> bytes | None:
        """The bytes of a blob that can be made again; None when it is missing or damaged.

        A damaged one is removed, so that it is written anew.
        """
        path = self.path(address)
        try:
            data = unpack(path.read_bytes())
        except FileNotFoundError:
            return None
        except zstandard.ZstdError:
            data = b""
        except OSError as error:
            raise StoreError(f"The stored text {address} cannot be read: {error.strerror}.") from error
        if digest_of(data) == address:
            return data
        path.unlink(missing_ok=True)
        return None

    def _sweep(self) -> None:
        """Remove what a killed process has left. Recent files may belong to one that is alive."""
        oldest = time.time() - _ABANDONED_AFTER_SECONDS
        for path in self.incoming.iterdir():
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)


class BlobBatch:
    """The blobs of one result on their way into the store.

    One thread adds; any thread may read what was added. Writing goes on in the background.
    """

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self._pending: dict[Address, bytes] = {}
        self._writes: dict[Address, Future[None]] = {}

    def add(self, text: str | bytes) -> Address:
        """Take a text in and say where it will be. Texts that are stored already cost nothing."""
        data = text if isinstance(text, bytes) else text.encode("utf-8", errors="replace")
        address = digest_of(data)
        if address not in self._writes and not self._store.path(address).exists():
            self._pending[address] = data
            self._writes[address] = self._store.writers.submit(self._write, address, data)
        return address

    def read(self, address: Address) -> bytes:
        """The bytes of a blob of this batch, or of the store."""
        data = self._pending.get(address)
        return self._store.read(address) if data is None else data

    def commit(self) -> None:
        """Wait until all blobs are on the disk. After it returns, rows may refer to them."""
        for write in self._writes.values():
            write.result()
        _synchronize(self._store.folder)

    def discard(self) -> None:
        """Stop writing. What was written stays: it may be of use to another result."""
        for write in self._writes.values():
            write.cancel()
        wait(self._writes.values())
        self._pending.clear()

    def _write(self, address: Address, data: bytes) -> None:
        path = self._store.incoming / f"{address}.{uuid.uuid4().hex}"
        try:
            with path.open("xb") as file:
                file.write(pack(data))
                file.flush()
                os.fsync(file.fileno())
            path.replace(self._store.path(address))
        except OSError as error:
            path.unlink(missing_ok=True)
            raise StoreError(f"The text {address} cannot be stored: {error.strerror}.") from error
        del self._pending[address]


def pack(data: bytes) -> bytes:
    """Compress into one frame with a checksum."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def unpack(frame: bytes) -> bytes:
    """The other way round; raises ZstdError when the frame is damaged."""
    return zstandard.ZstdDecompressor().decompress(frame)


def _synchronize(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
