"""The interface of a blob store. `explorer.store.files` implements it with a folder, `s3` with an S3 store.

A further implementation is tested by one more parameter in `tests/store/test_blob_store.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from explorer.store.address import Address
from explorer.store.batches import BlobBatch


class BlobStore(Protocol):
    """Immutable bytes, addressed by the SHA-256 of their content. Safe to use from many threads."""

    def batch(self) -> BlobBatch:
        """Return a new, empty batch."""

    def read(self, address: Address) -> bytes:
        """Return a blob.

        Raises:
            DamagedText: the blob is missing or damaged.
            StoreError: the store cannot be read.
        """

    def stream(self, address: Address) -> Iterator[bytes]:
        """Yield the parts of a blob. Damage is only detected at its end.

        Raises:
            DamagedText: the blob is missing or damaged.
            StoreError: the store cannot be read.
        """

    def read_if_sound(self, address: Address) -> bytes | None:
        """Return a blob; None if it is missing or damaged. A damaged blob is removed.

        Raises:
            StoreError: the store cannot be read.
        """

    def read_frame(self, address: Address) -> bytes | None:
        """Return a blob as stored, compressed; None if it is missing or damaged.

        Raises:
            StoreError: the store cannot be read.
        """

    def remove(self, address: Address) -> None:
        """Remove a damaged blob."""

    @property
    def used_bytes(self) -> int:
        """The length of all blobs as stored: measured when the store is pruned, plus later writes."""

    @property
    def young_bytes(self) -> int:
        """The part of `used_bytes` that is removed when it is older: another process may need it."""

    @property
    def free_bytes(self) -> int:
        """The free space.

        Raises:
            StoreError: the store cannot be used.
        """

    @property
    def needs_disk(self) -> bool:
        """Whether nothing can be stored without free space on the disk of this machine."""

    def check(self) -> None:
        """Check that a blob could be stored.

        Raises:
            StoreError: a blob could not be stored; the message says why.
        """

    def sizes(self) -> Iterator[tuple[Address, int]]:
        """Yield the address of each blob and its length as it is stored.

        Raises:
            StoreError: the store cannot be read.
        """

    def unpruned(self) -> AbstractContextManager[None]:
        """Let no process of this machine remove blobs until the end of the block.

        Raises:
            StoreError: the store cannot be locked.
        """

    def stored_bytes(self, address: Address) -> int:
        """Return the length of a blob as it is stored; 0 if there is none."""

    def remove_unreferenced(self, find_referenced: Callable[[], Container[Address]]) -> int:
        """Remove the blobs that `find_referenced` does not return, and return the number of removed blobs.

        Blobs stay that a batch has added before or meanwhile: rows may soon refer to them.

        Raises:
            StoreError: another process removes blobs, or the store is read-only.
        """

    def close(self) -> None:
        """Finish pending writes and release the resources of the store."""
