"""The interfaces of a store: one for blobs, and one for requests, results and answers.

`explorer.store.files` and `explorer.store.s3` implement the first with a folder and with an S3 store,
`explorer.store.sql` the second with a database. A further implementation is tested by one more parameter in
`tests/store/test_blob_store.py` or `test_store.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from explorer.model import Diagnostic, Request
from explorer.store.address import Address
from explorer.store.claims import Claim, Deleted
from explorer.store.entries import Entry
from explorer.store.followers import FollowerTable
from explorer.store.gpu_time import GpuTime
from explorer.store.job_table import JobTable, NewJob
from explorer.store.leases import Leases
from explorer.store.processes import ProcessTable
from explorer.store.record import Record
from explorer.store.retention import Damage, Pruned, StoreHealth
from explorer.store.tokens import Tokens


class BlobBatch(Protocol):
    """The blobs of one result while it is being made.

    One thread adds blobs; any thread may read them, and wait until they are stored.
    """

    def add(self, text: str | bytes) -> Address:
        """Add a blob and return its address. A blob that is stored already is not stored again."""
        ...

    def read(self, address: Address) -> bytes:
        """Return a blob of this batch or of the store."""
        ...

    def commit(self) -> int:
        """Return once all blobs are stored, with their length. From then on, rows may refer to them.

        Raises:
            StoreError: a blob could not be stored.
        """
        ...

    def discard(self) -> None:
        """Abandon the blobs that are not stored yet. Stored blobs stay: another result may refer to them."""
        ...


class BlobStore(Protocol):
    """Immutable bytes, addressed by the SHA-256 of their content. Safe to use from many threads."""

    def batch(self) -> BlobBatch:
        """Return a new, empty batch."""
        ...

    def read(self, address: Address) -> bytes:
        """Return a blob.

        Raises:
                DamagedText: the blob is missing or damaged.
            StoreError: the store cannot be read.
        """
        ...

    def stream(self, address: Address) -> Iterator[bytes]:
        """Yield the parts of a blob. Damage is only detected at its end.

        Raises:
            DamagedText: the blob is missing or damaged.
            StoreError: the store cannot be read.
        """
        ...

    def read_if_sound(self, address: Address) -> bytes | None:
        """Return a blob; None if it is missing or damaged. A damaged blob is removed.

        Raises:
            StoreError: the store cannot be read.
        """
        ...

    def read_frame(self, address: Address) -> bytes | None:
        """Return a blob as stored, compressed; None if it is missing or damaged.

        Raises:
            StoreError: the store cannot be read.
        """
        ...

    def remove(self, address: Address) -> None:
        """Remove a damaged blob."""
        ...

    @property
    def used_bytes(self) -> int:
        """The length of all blobs as stored: measured when the store is pruned, plus later writes."""
        ...

    @property
    def young_bytes(self) -> int:
        """The part of `used_bytes` that is removed when it is older: another process may need it."""
        ...

    @property
    def free_bytes(self) -> int:
        """The free space.

        Raises:
            StoreError: the store cannot be used.
        """
        ...

    @property
    def needs_disk(self) -> bool:
        """Whether nothing can be stored without free space on the disk of this machine."""
        ...

    def check(self) -> None:
        """Check that a blob could be stored.

        Raises:
                StoreError: a blob could not be stored; the message says why.
        """
        ...

    def sizes(self) -> Iterator[tuple[Address, int]]:
        """Yield the address of each blob and its length as it is stored.

        Raises:
            StoreError: the store cannot be read.
        """
        ...

    def unpruned(self) -> AbstractContextManager[None]:
        """Let no process of this machine remove blobs until the end of the block.

        Raises:
            StoreError: the store cannot be locked.
        """
        ...

    def stored_bytes(self, address: Address) -> int:
        """Return the length of a blob as it is stored; 0 if there is none."""
        ...

    def remove_unreferenced(self, find_referenced: Callable[[], Container[Address]]) -> int:
        """Remove the blobs that `find_referenced` does not return, and return the number of removed blobs.

        Blobs stay that a batch has added before or meanwhile: rows may soon refer to them.

        Raises:
            StoreError: another process removes blobs, or the store is read-only.
        """
        ...

    def close(self) -> None:
        """Finish pending writes and release the resources of the store."""
        ...


class Store(Protocol):
    """Requests, their results, and answers about results. Safe to use from many threads."""

    @property
    def revision(self) -> int:
        """A number that grows when this process removes a final result, or adds an answer about a result."""
        ...

    @property
    def leases(self) -> Leases:
        """The leases of jobs."""
        ...

    @property
    def followers(self) -> FollowerTable:
        """The followers of the jobs that other processes do."""
        ...

    @property
    def jobs(self) -> JobTable:
        """The jobs that workers do."""
        ...

    @property
    def processes(self) -> ProcessTable:
        """The web servers and the workers that use this store."""
        ...

    @property
    def gpu_time(self) -> GpuTime:
        """The time that clients take on GPUs."""
        ...

    @property
    def tokens(self) -> Tokens:
        """The API tokens of accounts."""
        ...

    def batch(self, record_id: str = "") -> BlobBatch:
        """Return a batch for the texts of a job. The batch protects the request from removal."""
        ...

    def submit(
        self,
        request: Request,
        client: str = "",
        *,
        is_live: bool = False,
        job: NewJob | None = None,
        claim: Claim | None = None,
    ) -> Record:
        """Return the record of a request; insert it for the client if the request is new.

        This process then has the lease of a new request; with `job`, the job waits for a worker. The result
        of a request that was only submitted with `is_live` is removed early, see `keep`. With `claim`, the
        result can be deleted, see `delete`.

        Raises:
            QueueFull, TooManyRequests: the job is refused, and nothing is stored.
                StoreError: the request cannot be stored.
        """
        ...

    def claim(self, record_id: str, claim: Claim | None, client: str) -> bool:
        """Note that a client has submitted an existing request. Return whether it still exists.

        Raises:
                StoreError: the claim cannot be stored.
        """
        ...

    def delete(self, record_ids: Sequence[str], holder: str | None, client: str) -> Deleted:
        """Remove a result that only the holder of a token has submitted, with its parts, or give up a claim.

        The first ID names the result, the others name its parts, such as its runs. Without a holder,
        everything is removed.

        Raises:
            NotFound: the result does not exist any more.
            Forbidden: the holder has no claim to it.
                NotFinished: its job, or the job of a part, is unfinished.
            StoreError: the database cannot be written.
        """
        ...

    def admit(self, client: str = "") -> None:
        """Check that there is space for one more result of a client.

        Raises:
            StoreFull: the disk or a quota is full.
            StoreError: nothing can be stored; the message says why.
        """
        ...

    def known(self, request: Request) -> Record | None:
        """Return the record of a request, or None if it was never submitted."""
        ...

    def find(self, record_id: str) -> Record:
        """Return the record with this ID.

        Raises:
                NotFound: there is no such record.
        """
        ...

    def runs(self, compilation: Request, limit: int, *, imported: bool = False) -> list[Record]:
        """Return the latest runs of the kernel that a request compiles, newest first.

        With `imported`, return the runs from other machines; otherwise the runs of this server.
        """
        ...

    def private_results(self, holder: str, limit: int, before: datetime | None = None) -> list[Record]:
        """Return the latest private results that the holder of a token has submitted, newest first.

        Runs and live results are left out. With `before`, only older results are returned. None of them
        counts as opened.

        Raises:
            StoreError: the store cannot be read.
        """
        ...

    def finish(self, record_id: str, entries: Sequence[Entry], batch: BlobBatch) -> None:
        """Store a result and end its lease: `entries` ends with `Done`, `batch` holds its texts.

        A final result is never replaced; a transient one is stored only while this process has the lease, and
        removed when the job is started again. If another worker has taken the job over meanwhile, its result
        counts, and nothing is stored.

        Raises:
            StoreLocked: another process has locked the database; the call may be repeated.
            StoreError: the result cannot be stored.
        """
        ...

    def fail(self, record_id: str, reason: Diagnostic, milliseconds: float) -> None:
        """Store for some seconds why the result of a job cannot be stored, and end its lease.

        `milliseconds` is how long the job took. If another worker has taken the job over meanwhile, nothing
        is stored.

        Raises:
                StoreError: the failure cannot be stored either.
        """
        ...

    def keep(self, record_id: str) -> None:
        """Make a live result an ordinary one, because a caller has requested it."""
        ...

    def retain(self, record_id: str, client: str) -> None:
        """Keep a result and its runs from being removed, at the client's expense.

        Raises:
            NotFound: there is no such record.
            StoreFull: retained results take their share of a quota.
        """
        ...

    def answer(self, record: Record, query: str) -> bytes | None:
        """Return the stored answer to a query about a result, or None."""
        ...

    def answer_reader(self, record: Record) -> Callable[[str], bytes | None]:
        """Return a function from a query to the answer about a result that is stored now, or None.

        For many queries, the function is faster than `answer`: it uses one database query.
        """
        ...

    def keep_answers(self, record: Record, answers: Mapping[str, bytes]) -> None:
        """Store the answers to queries about a stored result, by query, if they can be stored."""
        ...

    def health(self) -> StoreHealth:
        """Return the state of the store, after testing whether it can be written."""
        ...

    def write_uses(self) -> None:
        """Store which records were opened since the last call. Note whether pruning is due.

        Raises:
            StoreError: the store cannot be written.
        """
        ...

    @property
    def pruning_is_due(self) -> threading.Event:
        """Set when a quota is nearly reached or live results are to be removed, until the store is pruned."""
        ...

    def prune(self, *, with_retained: bool = False) -> Pruned:
        """Remove results that exceed the quotas or the age, and blobs that no row refers to.

        Raises:
            StoreError: another process prunes, or the store cannot be written.
        """
        ...

    def verify(self, *, repair: bool = False) -> Iterator[Damage]:
        """Read all blobs, and yield the damaged or missing blobs.

        With `repair`, the results that refer to them are computed again when they are opened.
        """
        ...

    def close(self) -> None:
        """Finish pending writes and release the resources of the store."""
        ...
