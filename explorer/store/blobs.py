"""Texts by the hash of what they say: written once, compressed, never changed.

A blob is a file `ab/cdef….zst` that holds one zstd frame with a checksum. It comes into being by a
rename of a file that is complete and on the disk, so whoever finds it finds all of it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import zstandard

from explorer.errors import StoreError
from explorer.store.address import digest_of

Address = str

_INCOMING = "incoming"
_ABANDONED_AFTER_SECONDS = 24 * 3600


class BlobStore:
    """A folder of blobs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._incoming = folder / _INCOMING
        try:
            self._incoming.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"Cannot make the folder {self._incoming}: {error.strerror}.") from error
        self._sweep()

    def batch(self) -> BlobBatch:
        """Start to collect blobs that become visible together."""
        return BlobBatch(self, self._incoming)

    def path(self, address: Address) -> Path:
        """Where the blob is, or would be."""
        return self._folder / address[:2] / f"{address[2:]}.zst"

    def read(self, address: Address) -> bytes:
        """The bytes of a blob.

        Raises:
            StoreError: it is missing or damaged.
        """
        try:
            return _unpack(self.path(address))
        except (OSError, zstandard.ZstdError) as error:
            raise StoreError(f"The stored text {address} cannot be read: {error}.") from error

    def _sweep(self) -> None:
        """Remove what a killed process has left. Recent folders may belong to one that is alive."""
        oldest = time.time() - _ABANDONED_AFTER_SECONDS
        for folder in self._incoming.iterdir():
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


class BlobBatch:
    """The blobs of one result on their way into the store.

    One thread adds; any thread may read what was added. `add` is quick (a hash); `write` compresses
    and writes; nothing is visible to others before `commit`.
    """

    def __init__(self, store: BlobStore, incoming: Path) -> None:
        self._store = store
        self._folder = Path(tempfile.mkdtemp(dir=incoming))
        self._pending: dict[Address, bytes] = {}
        self._written: dict[Address, Path] = {}

    def add(self, text: str | bytes) -> Address:
        """Take a text in and say where it will be. Texts that are stored already cost nothing."""
        data = text if isinstance(text, bytes) else text.encode("utf-8", errors="replace")
        address = digest_of(data)
        if address not in self._written and not self._store.path(address).exists():
            self._pending[address] = data
        return address

    def read(self, address: Address) -> bytes:
        """The bytes of a blob of this batch, or of the store."""
        data = self._pending.get(address)
        if data is not None:
            return data
        path = self._written.get(address)
        if path is not None:
            try:
                return _unpack(path)
            except FileNotFoundError:
                pass  # committed in the meantime
        return self._store.read(address)

    def write(self) -> None:
        """Compress what was added and write it to temporary files."""
        for address, data in list(self._pending.items()):
            path = self._folder / address
            path.write_bytes(zstandard.ZstdCompressor(write_checksum=True).compress(data))
            self._written[address] = path
            del self._pending[address]

    def commit(self) -> None:
        """Make all blobs durable and visible. After it returns, rows may refer to them."""
        self.write()
        folders = set()
        for address, path in self._written.items():
            _synchronize(path)
            final = self._store.path(address)
            final.parent.mkdir(exist_ok=True)
            path.replace(final)
            folders.add(final.parent)
        for folder in {*folders, *(folder.parent for folder in folders)}:
            _synchronize(folder)
        self._written.clear()
        self.discard()

    def discard(self) -> None:
        """Forget what was not committed."""
        self._pending.clear()
        self._written.clear()
        shutil.rmtree(self._folder, ignore_errors=True)


def _unpack(path: Path) -> bytes:
    return zstandard.ZstdDecompressor().decompress(path.read_bytes())


def _synchronize(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
