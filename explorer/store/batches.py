"""The batches of a blob store: written in the background, and protected from pruning.

A blob of a batch is stored before a row refers to it. Until then, pruning must not remove the blob as
unreferenced. This module ensures that for the batches of this process; each store treats the batches of other
processes in its own way.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Protocol
from weakref import WeakSet

from explorer.store.address import Address, digest_of


class Blobs(Protocol):
    """The methods of a blob store that a batch needs."""

    def read(self, address: Address) -> bytes:
        """Return a blob."""

    def write(self, address: Address, data: bytes) -> int:
        """Store a blob, unless it is stored, and return its length as stored."""


class Batches:
    """Makes the batches of a store, whose blobs `writers` threads write."""

    def __init__(self, store: Blobs, writers: int) -> None:
        self._store = store
        self._writers = ThreadPoolExecutor(writers, "blobs")
        self._changed = threading.Condition()
        self._alive: WeakSet[BlobBatch] = WeakSet()
        #: While blobs are removed: the blobs of batches that have existed since the removal began.
        self._kept: set[Address] | None = None
        #: The blobs that are being removed at the moment.
        self._doomed: frozenset[Address] = frozenset()

    def close(self) -> None:
        """Finish pending writes."""
        self._writers.shutdown()

    def open(self) -> BlobBatch:
        return BlobBatch(self)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep the blobs of all batches until the end of the block, also blobs that are added meanwhile."""
        with self._changed:
            self._kept = {address for batch in self._alive for address in batch.addresses}
        try:
            yield
        finally:
            self._kept = None

    @contextmanager
    def removing(self, addresses: Collection[Address]) -> Iterator[Collection[Address]]:
        """Return the blobs that may be removed in this block, which is in a block of `kept`.

        A thread that writes one of them waits until the block has ended.
        """
        with self._changed:
            assert self._kept is not None
            self._doomed = frozenset(addresses) - self._kept
        try:
            yield self._doomed
        finally:
            with self._changed:
                self._doomed = frozenset()
                self._changed.notify_all()

    def add(self, batch: BlobBatch, address: Address, data: bytes) -> Future[int]:
        """Protect a blob of a batch from being removed while the batch exists, and start to write it."""
        with self._changed:
            self._alive.add(batch)
            batch.addresses.add(address)
            if self._kept is not None:
                self._kept.add(address)
        return self._writers.submit(self._write, batch, address, data)

    def read(self, address: Address) -> bytes:
        """Return a stored blob."""
        return self._store.read(address)

    def release(self, batch: BlobBatch) -> None:
        """Stop protecting the blobs of a batch."""
        with self._changed:
            self._alive.discard(batch)
            batch.addresses.clear()

    def _write(self, batch: BlobBatch, address: Address, data: bytes) -> int:
        with self._changed:
            self._changed.wait_for(lambda: address not in self._doomed)
        stored = self._store.write(address, data)
        del batch.pending[address]
        return stored


class BlobBatch:
    """The blobs of one result while it is being made. They are written in the background.

    One thread adds blobs; any thread may read them, and wait until they are stored. `pending` has the blobs
    that are not stored yet.
    """

    def __init__(self, batches: Batches) -> None:
        self.addresses: set[Address] = set()
        self.pending: dict[Address, bytes] = {}
        self._batches = batches
        self._writes: dict[Address, Future[int]] = {}

    def add(self, text: str | bytes) -> Address:
        """Start to write a blob and return its address. A blob that is stored already is not written."""
        data = text if isinstance(text, bytes) else text.encode("utf-8", errors="replace")
        address = digest_of(data)
        if address not in self._writes:
            self.pending[address] = data
            self._writes[address] = self._batches.add(self, address, data)
        return address

    def read(self, address: Address) -> bytes:
        """Return a blob of this batch or of the store."""
        data = self.pending.get(address)
        return self._batches.read(address) if data is None else data

    def commit(self) -> int:
        """Return once all blobs are stored, with their length. From then on, rows may refer to them.

        Raises:
            StoreError: a blob could not be stored.
        """
        return sum(write.result() for write in list(self._writes.values()))

    def discard(self) -> None:
        """Cancel pending writes. Stored blobs stay until pruned, because other rows may refer to them."""
        for write in self._writes.values():
            write.cancel()
        wait(self._writes.values())
        self.pending.clear()
        self._batches.release(self)


class StoredBytes:
    """The length of all blobs of a store: measured when the store is pruned, plus the writes since then.

    `young` is the part that was unreferenced at the last measurement, but too young to be removed.
    """

    def __init__(self) -> None:
        self.total = 0
        self.young = 0
        self._new = 0
        self._changing = threading.Lock()

    def add(self, size: int) -> None:
        """Add the length of a written blob."""
        with self._changing:
            self.total += size
            self._new += size

    def begin(self) -> None:
        with self._changing:
            self._new = 0

    def end(self, measured: int, young: int) -> None:
        """End a measurement: set the total to its result plus the writes since its beginning."""
        with self._changing:
            self.total = measured + self._new
            self.young = young
