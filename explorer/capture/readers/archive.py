"""Unpacks a zip archive that is not trusted: files below a folder, limited in number and size."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from explorer.capture.read import CannotRead, Damaged
from explorer.errors import InvalidRequest
from explorer.model.limits import MOST_TEXT_BYTES

_MOST_ENTRIES = 20_000
_MOST_BYTES = 256 << 20
_DEEPEST = 8
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,  # encrypted
    NotImplementedError,
    ValueError,
)


def unpack(archive: Path, folder: Path) -> Iterator[Damaged]:
    """Write the files of an archive, and yield the files that cannot be unpacked.

    Raises:
        InvalidRequest: the file is not a zip archive, or is too large when unpacked.
    """
    try:
        packed = zipfile.ZipFile(archive)
    except _DAMAGED as error:
        raise InvalidRequest(f"{archive.name} is not a zip archive, or is damaged: {error}.") from error
    with packed:
        entries = [each for each in packed.infolist() if each.filename and not each.is_dir()]
        if len(entries) > _MOST_ENTRIES:
            raise InvalidRequest(f"{archive.name} has more than {_MOST_ENTRIES:,} files, the limit.")
        if sum(each.file_size for each in entries) > _MOST_BYTES:
            raise InvalidRequest(
                f"{archive.name} has more than {_MOST_BYTES:,} bytes when it is unpacked, the limit."
            )
        for entry in entries:
            try:
                _unpack_entry(packed, entry, folder)
            except CannotRead as error:
                yield Damaged(entry.filename, str(error))
            except _DAMAGED as error:
                yield Damaged(entry.filename, f"it cannot be unpacked: {error}")


def _unpack_entry(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path) -> None:
    path = PurePosixPath(entry.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or len(path.parts) > _DEEPEST:
        raise CannotRead("its path is not below the folder of the archive")
    with packed.open(entry) as file:  # reads no more than the archive says, and checks its digest
        data = file.read(MOST_TEXT_BYTES + 1)
    if len(data) > MOST_TEXT_BYTES:
        raise CannotRead(f"it has more than {MOST_TEXT_BYTES:,} bytes")
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as written:
        written.write(data)
