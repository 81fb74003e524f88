"""The location of texts, as a name: two processes with equal names use the same texts."""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from explorer.store.failures import disk_failure

_NAME = "folder-id"


def location_of(data_dir: Path, blobs_url: str) -> str:
    """Return the bucket and the prefix of an S3 store, or the ID of a data folder, which may be shared.

    Raises:
        StoreError: the data folder cannot be written.
    """
    if blobs_url:
        parts = urlsplit(blobs_url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"
    path = data_dir / _NAME
    try:
        if not path.exists():
            new = data_dir / f"{_NAME}-{uuid.uuid4().hex}"
            new.write_text(uuid.uuid4().hex, encoding="utf-8")
            with suppress(FileExistsError):  # another process has just written the file
                path.hardlink_to(new)
            new.unlink()
        return f"folder {path.read_text(encoding='utf-8')}"
    except OSError as error:
        raise disk_failure(f"Cannot write {path}", error) from error
