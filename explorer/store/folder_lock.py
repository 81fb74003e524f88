"""Locks of a folder that several processes use: a lock of the users, and a lock of the pruning process."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from explorer.errors import StoreError
from explorer.store.failures import disk_failure

#: Servers of other versions lock files with the same names.
_USERS, _PRUNER = "users", "sweeper"


class FolderLock:
    """Counts this process among the users of a folder, until it is closed or the process ends.

    On a read-only disk there are no locks, and nothing to lock. While another process removes files, this
    process is no user yet: it can read, and `use` waits.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptors: list[int] = []
        self._is_user = False
        self._opening = threading.Lock()
        self._removing = threading.Lock()  # the locks of files do not exclude threads of one process
        with suppress(OSError):
            self._open()

    def use(self) -> None:
        """Wait until this process is a user of the folder.

        Raises:
            OSError: the disk is full or read-only.
        """
        if not self._is_user:
            with self._opening:
                self._open(waits=True)

    def now(self) -> float:
        """Return the time of the disk, which may belong to another machine, in seconds since 1970.

        Raises:
            OSError: the disk is read-only.
        """
        file = self._folder / _USERS
        os.utime(file)
        return file.stat().st_mtime

    def close(self) -> None:
        """Release the locks."""
        while self._descriptors:
            os.close(self._descriptors.pop())

    @contextmanager
    def pruning(self) -> Iterator[bool]:
        """Exclude all other removals of files. The value says whether no other process uses the folder.

        Wait for other threads of this process. A process that starts meanwhile waits before it writes.

        Raises:
            StoreError: another process removes files, or the disk is full or read-only.
        """
        with self._removing:
            users, pruner = self._opened()
            if not _is_locked(pruner):
                raise StoreError(
                    "Another process removes or backs up results at the moment. Try again in a minute."
                )
            try:
                # No other process requests this lock exclusively, so none takes it while it is converted.
                is_alone = _is_locked(users)
                self._is_user = True
                try:
                    yield is_alone
                finally:
                    fcntl.flock(users, fcntl.LOCK_SH)
            finally:
                fcntl.flock(pruner, fcntl.LOCK_UN)

    @contextmanager
    def unpruned(self) -> Iterator[None]:
        """Prevent removals of files. Wait for a running removal.

        Raises:
            StoreError: the disk is full or read-only.
        """
        with self._removing:
            _, pruner = self._opened()
            fcntl.flock(pruner, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(pruner, fcntl.LOCK_UN)

    def _opened(self) -> Sequence[int]:
        try:
            self._open()
        except OSError as error:
            raise disk_failure(f"Cannot use the folder {self._folder}", error) from error
        return self._descriptors

    def _open(self, *, waits: bool = False) -> None:
        """Open the files and become a user, unless this was done before or another process removes files."""
        if not self._descriptors:
            self._folder.mkdir(exist_ok=True)
            users, pruner = (self._folder / name for name in (_USERS, _PRUNER))
            users.touch()
            pruner.touch()
            self._descriptors = [os.open(each, os.O_RDONLY) for each in (users, pruner)]
        if not self._is_user:
            with suppress(BlockingIOError):
                fcntl.flock(self._descriptors[0], fcntl.LOCK_SH | (0 if waits else fcntl.LOCK_NB))
                self._is_user = True


def _is_locked(descriptor: int) -> bool:
    """Lock a file exclusively, and return whether this succeeded."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
