"""The files of traces and logs, line by line. A file may be compressed with gzip, as a whole or in parts."""

from __future__ import annotations

import contextlib
import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from explorer.capture.read import CannotRead
from explorer.errors import InvalidRequest

_MOST_FILES = 1_000
_LINE_BYTES = 128 << 20
#: The limit for all lines of a file, unpacked: a small file may unpack to any size.
_FILE_BYTES = 4 << 30
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def files_of(path: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the file, or the files of a folder, whose names have one of the suffixes.

    Raises:
        InvalidRequest: there are too many.
    """
    if path.is_file():
        return [path] if path.name.endswith(suffixes) else []
    try:
        with os.scandir(path) as entries:
            found = [
                path / entry.name
                for entry in entries
                if entry.name.endswith(suffixes) and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    if len(found) > _MOST_FILES:
        raise InvalidRequest(f"{path} has more than {_MOST_FILES:,} traces, the limit. Send some of them.")
    return sorted(found)


def lines_of(path: Path) -> Iterator[tuple[str, bytes | CannotRead]]:
    """Yield the lines of a file with their places, or the reason why a line cannot be read."""
    place, total = path.name, 0
    try:
        with _unpacked(path) as file:
            number = 0
            while line := file.readline(_LINE_BYTES):
                number += 1
                place = f"{path.name}:{number}"
                total += len(line)
                if total > _FILE_BYTES:
                    raise CannotRead(f"it has more than {_FILE_BYTES:,} bytes, the rest is not read")
                if len(line) == _LINE_BYTES and not line.endswith(b"\n"):
                    raise CannotRead(f"a line has more than {_LINE_BYTES:,} bytes, the rest is not read")
                yield place, line
    except CannotRead as error:
        yield place, error
    except (OSError, EOFError, zlib.error) as error:
        yield place, CannotRead(f"{error}. The rest is not read")


@contextlib.contextmanager
def _unpacked(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:  # noqa: PTH123  a descriptor
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise CannotRead("it is not a regular file")
        start = file.peek(4)[:4]
        if start == _ZSTANDARD:
            raise CannotRead("it is compressed with Zstandard. Unpack it with zstd -d")
        if not start.startswith(_GZIP):
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield unpacked
