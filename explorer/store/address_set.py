"""A set of addresses in constant memory, which finds the unused of millions of blobs."""

from __future__ import annotations

import random

from explorer.store.address import Address

_DIGITS = 7  # hexadecimal digits of a position: 28 bits, for a table of 32 MiB
_OFFSETS = range(0, 64 - 2 * _DIGITS, 2 * _DIGITS)


class AddressSet:
    """A Bloom filter: it contains all added addresses, and by chance a few other addresses.

    With ten million addresses, less than 1 % of the other addresses match. These differ between filters.
    """

    def __init__(self) -> None:
        self._bits = bytearray(1 << (4 * _DIGITS - 3))
        self._offset = random.choice(_OFFSETS)  # noqa: S311  no secret

    def add(self, address: Address) -> None:
        for position in self._positions(address):
            self._bits[position >> 3] |= 1 << (position & 7)

    def __contains__(self, address: object) -> bool:
        return all(
            self._bits[position >> 3] >> (position & 7) & 1 for position in self._positions(str(address))
        )

    def _positions(self, address: Address) -> tuple[int, int]:
        """Return two positions. An address is a digest, so its digits are as good as random digits."""
        middle = self._offset + _DIGITS
        return int(address[self._offset : middle], 16), int(address[middle : middle + _DIGITS], 16)
