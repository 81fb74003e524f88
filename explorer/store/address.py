"""Addresses: the digest of a request or a blob. Equal content has the same address on every machine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from explorer.model import Request, to_plain

#: The SHA-256 of a blob, in hexadecimal.
Address = str

#: Digits and letters without the similar characters 0, O, I and l.
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
SHORTEST_ID = 12
#: The digits of a private ID: 140 bits, which nobody can guess. A public ID would only be as long if 23
#: digits of two digests were equal.
PRIVATE_ID = 24
LONGEST_ID = 44  # digits of 256 bits in base 58


#: Fields that requests did not have before: a request without them keeps its address.
_WITHOUT_DEFAULTS = (
    *("path", "files", "assumed", "script_arguments", "captured", "imported", "edits", "private"),
    "constants",
)


def canonical_json(request: Request) -> bytes:
    """Serialize a request so that equal requests give equal bytes: sorted keys, no spaces, UTF-8."""
    plain = to_plain(request)
    if request.run is None:  # A request without a run keeps the address that it had before requests had runs.
        del plain["run"]
    elif request.run.original is None:  # nor has one without an original
        del plain["run"]["original"]
    for name in _WITHOUT_DEFAULTS:
        if not plain[name]:
            del plain[name]
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def is_private(record_id: str) -> bool:
    """Return whether an ID belongs to a private result. The IDs of profiles have other characters."""
    return len(record_id) >= PRIVATE_ID and set(record_id) <= set(ALPHABET)


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def collection_digest(kind: str, private: str, content: bytes) -> str:
    """Return the digest of a collection. Equal collections with different keys have different digests."""
    return digest_of(json.dumps([kind, private, content.decode()]).encode())


def possible_ids(digest: str, *, is_private: bool) -> Iterator[str]:
    """Yield the prefixes of a digest that may be its ID, the shortest first. Private IDs are long."""
    name = base58(digest)
    for length in range(PRIVATE_ID if is_private else SHORTEST_ID, LONGEST_ID + 1):
        yield name[:length]


def base58(digest: str) -> str:
    """Return a digest in base 58, with all `LONGEST_ID` digits."""
    number, digits = int(digest, 16), []
    for _ in range(LONGEST_ID):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(digits)
