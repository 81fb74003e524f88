"""Copies the pages of memory that jobs write, before a request arrives. Jail side.

A forked process shares the pages of its zygote. The first write to each page interrupts the process, and the
kernel copies the page: 5,000 times for a small kernel, which takes 20 ms. A fork of the zygote executes a
known job once to find these pages.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from explorer.sandbox import confine, linux

#: The first address of a range, and its length in bytes.
_Range = tuple[int, int]

_RANGE = struct.Struct("<QQ")
_ENTRY = struct.Struct("<Q")
#: Bits of an entry of /proc/<pid>/pagemap: the page is in memory, belongs to a file, is mapped exclusively.
_PRESENT, _OF_FILE, _EXCLUSIVE = 1 << 63, 1 << 61, 1 << 56
_READ_BYTES = 1 << 16

_written: list[_Range] = []


def find(rehearse: Callable[[], None]) -> None:
    """Note the pages of this process that `rehearse` writes. It is called in a forked process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            confine.let_in()  # /proc/self is closed otherwise.
            mapped = list(_writable_mappings())
            rehearse()
            for found in _exclusive_pages(mapped):
                os.write(writer, _RANGE.pack(*found))
        finally:
            os._exit(0)
    os.close(writer)
    data = bytearray()
    while part := os.read(reader, _READ_BYTES):
        data += part
    os.close(reader)
    os.waitpid(child, 0)
    _written[:] = _RANGE.iter_unpack(data)


def copy() -> None:
    """Copy the pages that `find` has noted, where the kernel can do so (Linux 5.14)."""
    for start, length in _written:
        if not linux.populate(start, length):
            return


def _writable_mappings() -> Iterator[_Range]:
    """Yield the private mappings that this process can write."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, mode, *_ = line.split()
        if mode[1] == "w" and mode[3] == "p":
            start, end = (int(address, 16) for address in addresses.split("-"))
            yield start, end - start


def _exclusive_pages(mappings: list[_Range]) -> Iterator[_Range]:
    """Yield the ranges of pages that this process does not share with its parent."""
    page_bytes = os.sysconf("SC_PAGE_SIZE")
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pagemap:
        for start, length in mappings:
            pagemap.seek(start // page_bytes * _ENTRY.size)
            entries = pagemap.read(length // page_bytes * _ENTRY.size)
            first: int | None = None
            for number, (entry,) in enumerate(_ENTRY.iter_unpack(entries + bytes(_ENTRY.size))):
                is_own = bool(entry & _PRESENT and entry & _EXCLUSIVE and not entry & _OF_FILE)
                if is_own and first is None:
                    first = number
                elif not is_own and first is not None:
                    yield start + first * page_bytes, (number - first) * page_bytes
                    first = None
