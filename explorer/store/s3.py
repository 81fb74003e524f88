"""Blobs in an S3 store, one compressed object each, with copies in a local folder.

Recently read or written blobs are read from the copies, also while the S3 store does not answer. A damaged
copy is replaced by the object.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import TypeVar

from explorer.errors import DamagedText
from explorer.monitoring.metrics import blob_cache
from explorer.store.address import Address
from explorer.store.batches import Batches, BlobBatch, StoredBytes
from explorer.store.blob_compression import check, compress, decode, parts_of
from explorer.store.cache import BlobCache
from explorer.store.failures import disk_failure
from explorer.store.files import SUFFIX, YOUNG_SECONDS, free_bytes
from explorer.store.folder_lock import FolderLock
from explorer.store.s3_objects import S3Location, S3Object, S3Objects

Decoded = TypeVar("Decoded")

_WRITERS = 16
_YOUNG = timedelta(seconds=YOUNG_SECONDS)


class S3BlobStore:
    """A `BlobStore` at the S3 location `url`, with `cache_bytes` of copies in `folder`.

    With `is_shared`, other machines may use the location too.

    Raises:
        SettingsError: the URL is invalid, or obstore is not installed.
        StoreError: the folder cannot be created.
    """

    def __init__(self, url: str, folder: Path, cache_bytes: int, *, is_shared: bool = False) -> None:
        self._objects = S3Objects(S3Location.of(url))
        self._folder = folder
        self._is_shared = is_shared
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_failure(f"Cannot create the folder {folder}", error) from error
        self._cache = BlobCache(folder, cache_bytes)
        self._users = FolderLock(folder / "locks")
        self._batches = Batches(self, _WRITERS)
        self._stored = StoredBytes()

    def close(self) -> None:
        """Finish pending writes."""
        self._batches.close()
        self._users.close()

    def batch(self) -> BlobBatch:
        return self._batches.open()

    def read(self, address: Address) -> bytes:
        return self._load(address, decode)

    def stream(self, address: Address) -> Iterator[bytes]:
        """Yield the parts of a blob, which is known to be sound.

        Raises:
            DamagedText: the blob is missing or damaged.
            StoreError: the S3 store cannot be read.
        """
        yield from parts_of(BytesIO(self._load(address, check)))

    def _load(self, address: Address, decoded: Callable[[bytes, Address], Decoded | None]) -> Decoded:
        """Return the frame of a blob after `decoded`: of its copy if that is sound, else of its object."""
        copy = self._cache.read(address)
        result = None if copy is None else decoded(copy, address)
        blob_cache.labels("miss" if result is None else "hit").inc()
        if result is not None:
            return result
        frame = self._objects.get(_name(address))
        result = None if frame is None else decoded(frame, address)
        if frame is None or result is None:
            if frame is not None:
                self.remove(address)
            raise DamagedText(f"The stored text {address} of {self._objects.location} is missing or damaged.")
        self._cache.write(address, frame)
        return result

    def read_if_sound(self, address: Address) -> bytes | None:
        try:
            return self.read(address)
        except DamagedText:
            return None

    def remove(self, address: Address) -> None:
        """Remove a damaged object, and its copy.

        Raises:
            StoreError: the S3 store cannot be used.
        """
        self._remove([address])

    def read_frame(self, address: Address) -> bytes | None:
        frame = self._objects.get(_name(address))
        return None if frame is None else check(frame, address)

    def stored_bytes(self, address: Address) -> int:
        found = self._objects.head(_name(address))
        return 0 if found is None else found.bytes

    @property
    def used_bytes(self) -> int:
        """The length of all objects: measured when blobs are removed, plus the writes of this process."""
        return self._stored.total

    @property
    def young_bytes(self) -> int:
        return self._stored.young

    @property
    def needs_disk(self) -> bool:
        """Whether the database is in the data folder too. The copies alone need no free disk space."""
        return not self._is_shared

    @property
    def free_bytes(self) -> int:
        """The free space of the disk of the data folder, which holds the copies.

        Raises:
            StoreError: the folder cannot be used.
        """
        return free_bytes(self._folder)

    def check(self) -> None:
        """Write an object.

        Raises:
            StoreError: the object cannot be written; the message says why.
        """
        self._objects.check()

    def sizes(self) -> Iterator[tuple[Address, int]]:
        for page in self._pages():
            for address, found in page.items():
                yield address, found.bytes

    def unpruned(self) -> AbstractContextManager[None]:
        return self._users.unpruned()

    def remove_unreferenced(self, find_referenced: Callable[[], Container[Address]]) -> int:
        """Remove the blobs that `find_referenced` does not return, and return the number of removed blobs.

        Blobs that a batch of this process has added stay, and so do young blobs if another process uses the
        folder, or may use the location: rows may soon refer to them.

        Raises:
            StoreError: another process of this machine removes blobs, or the S3 store cannot be used.
        """
        with self._users.pruning() as is_alone, self._batches.kept():
            is_safe = is_alone and not self._is_shared
            youngest = datetime.max.replace(tzinfo=UTC) if is_safe else self._objects.now() - _YOUNG
            self._stored.begin()
            referenced = find_referenced()
            kept_bytes = young_bytes = removed = 0
            for page in self._pages():
                with self._batches.removing([each for each in page if each not in referenced]) as doomed:
                    old = [each for each in doomed if page[each].modified <= youngest]
                    self._remove(old)
                removed += len(old)
                gone_bytes = sum(page[each].bytes for each in old)
                young_bytes += sum(page[each].bytes for each in doomed) - gone_bytes
                kept_bytes += sum(found.bytes for found in page.values()) - gone_bytes
            self._stored.end(kept_bytes, young_bytes)
            return removed

    def write(self, address: Address, data: bytes) -> int:
        """Store a blob, unless it is stored, and return the length of the object.

        An old object is written again: otherwise it could be removed before a row refers to it.

        Raises:
            StoreError: the blob cannot be stored.
        """
        try:
            self._users.use()
        except OSError as error:
            if self.needs_disk:
                raise disk_failure(f"Cannot use the folder {self._folder}", error) from error
        frame = compress(data)
        found = self._objects.head(_name(address))
        is_stored = found is not None and found.bytes == len(frame)
        if found is None or not is_stored or found.modified < self._objects.now() - _YOUNG / 2:
            self._objects.put(_name(address), frame)
            self._stored.add(len(frame) - (found.bytes if found else 0))
        self._cache.write(address, frame)
        return len(frame)

    def _pages(self) -> Iterator[dict[Address, S3Object]]:
        """Yield the objects of all blobs by address, many at a time."""
        for page in self._objects.pages():
            yield {
                each.name.removesuffix(SUFFIX): each
                for each in page
                if each.name.endswith(SUFFIX) and "/" not in each.name
            }

    def _remove(self, addresses: list[Address]) -> None:
        self._objects.delete([_name(address) for address in addresses])
        for address in addresses:
            self._cache.remove(address)


def _name(address: Address) -> str:
    return f"{address}{SUFFIX}"
