"""The stored form of a blob: one zstd frame with a checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from io import BytesIO
from typing import IO

import zstandard

from explorer.store.address import Address, digest_of

_PART_BYTES = 256 << 10


def compress(data: bytes) -> bytes:
    """Compress into one frame."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def decompress(frame: bytes) -> bytes:
    """Decompress one frame; raise `ZstdError` if it is damaged."""
    try:
        return zstandard.ZstdDecompressor().decompress(frame)
    except MemoryError as error:  # the length in its header is damaged
        raise zstandard.ZstdError("the length is wrong") from error


def decode(frame: bytes, address: Address) -> bytes | None:
    """Return the blob with this address; None if the frame is damaged or holds a different blob."""
    try:
        data = decompress(frame)
    except zstandard.ZstdError:
        return None
    return data if digest_of(data) == address else None


def check(frame: bytes, address: Address) -> bytes | None:
    """Return the frame if it holds the blob with this address, else None. The blob is read in parts."""
    digest = hashlib.sha256()
    try:
        for part in parts_of(BytesIO(frame)):
            digest.update(part)
    except zstandard.ZstdError:
        return None
    return frame if digest.hexdigest() == address else None


def parts_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the decompressed parts of a frame; raise `ZstdError` where it is damaged."""
    return zstandard.ZstdDecompressor().read_to_iter(file, write_size=_PART_BYTES)
