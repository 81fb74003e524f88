"""Opens the store of a data folder, or restores it from a backup."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from explorer.store.backup import DATABASE_NAME, Copied, restore
from explorer.store.blob_store import BlobStore
from explorer.store.files import FileBlobStore
from explorer.store.retention import Quotas
from explorer.store.s3 import S3BlobStore
from explorer.store.sql import NO_QUOTAS, Store


def open_store(
    data_dir: Path,
    database_url: str = "",
    quotas: Quotas = NO_QUOTAS,
    blobs_url: str = "",
    cache_bytes: int = 0,
) -> Store:
    """Open the store of a data folder: texts in its `blobs`, rows in a database.

    Without `database_url`, the database is the SQLite file `explorer.sqlite` in the data folder. With
    `blobs_url`, the texts are in an S3 store, and the data folder has copies that take `cache_bytes`.

    Raises:
        SettingsError: a URL is invalid.
        StoreError: the folder or the database cannot be used.
    """
    url = database_url or _url_in(data_dir)
    return Store(_open_blobs(data_dir, url, blobs_url, cache_bytes), url, quotas)


def restore_store(
    backup: Path, data_dir: Path, database_url: str = "", blobs_url: str = "", cache_bytes: int = 0
) -> Copied:
    """Create the store of a data folder from a backup. The arguments have the meaning of `open_store`.

    Raises:
        InvalidRequest: the database exists or is not SQLite, or `backup` is no backup.
        StoreError: the store cannot be written.
    """
    url = database_url or _url_in(data_dir)
    with closing(_open_blobs(data_dir, url, blobs_url, cache_bytes)) as blobs:
        return restore(backup, url, blobs)


def _url_in(data_dir: Path) -> str:
    return f"sqlite:///{data_dir.resolve() / DATABASE_NAME}"


def _open_blobs(data_dir: Path, database_url: str, url: str, cache_bytes: int) -> BlobStore:
    folder = data_dir.resolve()
    if not url:
        return FileBlobStore(folder / "blobs")
    is_shared = not database_url.startswith("sqlite")
    return S3BlobStore(url, folder / "blob-cache", cache_bytes, is_shared=is_shared)
