"""Backups of a store: a consistent copy of the database, and the texts that its rows refer to.

A backup is a folder or a tar archive with the file `explorer.sqlite` and a file in `blobs` for each text, as
in a data folder.
"""

from __future__ import annotations

import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Protocol

from sqlalchemy import create_engine, make_url, select
from sqlalchemy.orm import Session

from explorer.errors import InvalidRequest, StoreError
from explorer.store.address import Address
from explorer.store.blob_compression import decode
from explorer.store.blob_store import BlobStore
from explorer.store.entries import blobs_of, decode_journal
from explorer.store.failures import disk_failure
from explorer.store.files import SUFFIX
from explorer.store.in_threads import in_threads
from explorer.store.tables import AnswerRow, CompilationRow

DATABASE_NAME = "explorer.sqlite"
_ARCHIVE_SUFFIX = ".tar"
_BLOBS = "blobs"
#: The number of texts in memory while a backup is restored.
_BYTES_AT_ONCE = 64 << 20


@dataclass
class Copied:
    """The copied texts, and their length as stored. `lost` has the missing or damaged texts."""

    texts: int = 0
    bytes: int = 0
    lost: list[Address] = field(default_factory=list)


class _Target(Protocol):
    def add(self, name: str, data: bytes) -> None: ...

    def add_file(self, name: str, path: Path) -> None:
        """Add a copy of a file."""


def database_file(url: str) -> Path:
    """Return the file of an SQLite database.

    Raises:
        InvalidRequest: the database is not SQLite.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        raise InvalidRequest(
            f"Back up and restore the database {parsed!r} with its own tool, and after it the texts: the "
            "folder `blobs` or the S3 store. Do not prune meanwhile."
        )
    return Path(parsed.database)


def back_up(database_url: str, blobs: BlobStore, target: Path) -> Copied:
    """Write a backup, also while servers use the store.

    Raises:
        InvalidRequest: the database is not SQLite, or the target exists.
        StoreError: the store cannot be read, or the target cannot be written.
    """
    source, copied = database_file(database_url), Copied()
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InvalidRequest(f"{target} exists. Name a new folder, or a new file that ends with .tar.")
    try:
        with blobs.unpruned(), tempfile.TemporaryDirectory() as folder, _open_target(target) as writer:
            snapshot = Path(folder) / DATABASE_NAME
            _copy_database(source, snapshot)
            for address, frame in in_threads(blobs.read_frame, _referenced(snapshot, blobs)):
                if frame is None:
                    copied.lost.append(address)
                    continue
                writer.add(f"{_BLOBS}/{address}{SUFFIX}", frame)
                copied.texts += 1
                copied.bytes += len(frame)
            writer.add_file(DATABASE_NAME, snapshot)
    except OSError as error:
        raise disk_failure(f"Cannot write the backup {target}", error) from error
    return copied


def restore(backup: Path, database_url: str, blobs: BlobStore) -> Copied:
    """Store the texts of a backup, and create its database. Texts that are stored already stay.

    Raises:
        InvalidRequest: the database is not SQLite or exists, or `backup` is no backup.
        StoreError: the store cannot be written.
    """
    database, copied = database_file(database_url), Copied()
    if database.exists():
        raise InvalidRequest(f"The database {database} exists. Restore into a new data folder.")
    incoming = database.with_name(f"{database.name}.incoming")
    incoming.unlink(missing_ok=True)
    try:
        _store_texts(_files(backup, incoming), blobs, copied)
        if not incoming.exists():
            raise InvalidRequest(f"{backup} has no {DATABASE_NAME}: the backup is incomplete.")
        with closing(sqlite3.connect(incoming)) as connection:
            (problem,) = connection.execute("PRAGMA integrity_check").fetchone()
        if problem != "ok":
            raise StoreError(f"The database in {backup} is damaged: {problem}. Restore another backup.")
        incoming.replace(database)
    except (OSError, tarfile.TarError, sqlite3.DatabaseError) as error:
        raise StoreError(f"Cannot restore {backup}: {error}.") from error
    finally:
        incoming.unlink(missing_ok=True)
    return copied


def _store_texts(files: Iterable[tuple[Address, bytes]], blobs: BlobStore, copied: Copied) -> None:
    """Store texts, some at a time."""
    batch, size = blobs.batch(), 0
    for address, frame in files:
        data = decode(frame, address)
        if data is None:
            copied.lost.append(address)
            continue
        batch.add(data)
        copied.texts += 1
        copied.bytes += len(frame)
        size += len(data)
        if size > _BYTES_AT_ONCE:
            batch.commit()
            batch.discard()
            batch, size = blobs.batch(), 0
    batch.commit()
    batch.discard()


def _copy_database(source: Path, target: Path) -> None:
    """Copy an SQLite database in the state of one moment, into one file."""
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as connection,
            closing(sqlite3.connect(target)) as copy,
        ):
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise StoreError(f"Cannot copy the database {source}: {error}.") from error


def _referenced(database: Path, blobs: BlobStore) -> Iterator[Address]:
    """Yield the address of each text that the rows of a database refer to, once."""
    engine = create_engine(f"sqlite:///{database}")
    with Session(engine) as session:
        journals = [each for each in session.scalars(select(CompilationRow.journal).distinct()) if each]
        documents = set(session.scalars(select(AnswerRow.document)))
    engine.dispose()
    seen: set[Address] = set()
    for journal, frame in in_threads(blobs.read_frame, journals):
        data = None if frame is None else decode(frame, journal)
        for address in (journal, *(() if data is None else blobs_of(decode_journal(data)))):
            if address not in seen:
                seen.add(address)
                yield address
    yield from documents - seen


@contextmanager
def _open_target(target: Path) -> Iterator[_Target]:
    """Open a new backup, which gets its final name at the end of the block."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{target.name}.", dir=target.parent) as folder:
        incoming = Path(folder) / target.name
        if target.suffix == _ARCHIVE_SUFFIX:
            with tarfile.open(incoming, "w") as archive:
                yield _Archive(archive)
        else:
            (incoming / _BLOBS).mkdir(parents=True)
            yield _Folder(incoming)
        incoming.rename(target)


class _Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, name: str, data: bytes) -> None:
        (self._folder / name).write_bytes(data)

    def add_file(self, name: str, path: Path) -> None:
        shutil.copyfile(path, self._folder / name)


class _Archive:
    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive

    def add(self, name: str, data: bytes) -> None:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        self._archive.addfile(member, BytesIO(data))

    def add_file(self, name: str, path: Path) -> None:
        self._archive.add(path, name)


def _files(backup: Path, database: Path) -> Iterator[tuple[Address, bytes]]:
    """Yield the texts of a backup, compressed, and copy its database."""
    if backup.is_dir():
        for path in (backup / _BLOBS).glob(f"*{SUFFIX}"):
            yield path.name.removesuffix(SUFFIX), path.read_bytes()
        if (backup / DATABASE_NAME).is_file():
            _copy_database(backup / DATABASE_NAME, database)
        return
    with tarfile.open(backup) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is None:
                continue
            if member.name == DATABASE_NAME:
                with database.open("wb") as copy:
                    shutil.copyfileobj(file, copy)
            elif member.name.startswith(f"{_BLOBS}/"):
                yield Path(member.name).name.removesuffix(SUFFIX), file.read()
