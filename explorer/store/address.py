"""A request in, its address out: equal requests have equal addresses, on every machine, for ever."""

from __future__ import annotations

import hashlib
import json

from explorer.model import Request, to_plain

#: Digits and letters without those that look alike: 0, O, I and l.
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
SHORTEST_ID = 12
LONGEST_ID = 44  # what 256 bits take


def canonical_json(request: Request) -> bytes:
    """The request as bytes, the same for equal requests: sorted keys, no spaces, UTF-8."""
    plain = to_plain(request)
    if request.run is None:  # so that what was asked for before there were runs keeps its address
        del plain["run"]
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def digest_of(data: bytes) -> str:
    """The SHA-256 of `data` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def base58(digest: str) -> str:
    """A digest in base 58, all `LONGEST_ID` digits of it."""
    number, digits = int(digest, 16), []
    for _ in range(LONGEST_ID):
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(digits)
