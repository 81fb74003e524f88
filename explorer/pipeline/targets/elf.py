"""Reads the sections of an ELF file of a GPU, a cubin or an hsaco. The file is not trusted.

Source: the ELF-64 object file format, version 1.5.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

MAGIC = b"\x7fELF\x02"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NO_CONTENT = 8  # SHT_NOBITS
_MOST_SECTIONS = 10_000
#: The name of a section contains the name of its kernel, and the names of C++ functions are long.
_LONGEST_NAME = 10_000


class NotElf(ValueError):
    """The file is not ELF with 64 bits, or is damaged."""


@dataclass(frozen=True)
class Section:
    """A section: its name, the number by which other sections refer to it, and the place of its content.

    `memory_bytes` is its size when it is loaded, also without content in the file.
    """

    name: str
    info: int
    offset: int
    size: int
    memory_bytes: int


@dataclass(frozen=True)
class ElfFile:
    """An ELF file, with the numbers of its machine, of the version of its format, and of its flags."""

    data: bytes
    machine: int
    abi_version: int
    flags: int
    sections: tuple[Section, ...]

    def content(self, section: Section) -> bytes:
        """Return the content of a section. Sections may overlap."""
        return self.data[section.offset : section.offset + section.size]

    def find(self, name: str) -> bytes:
        """Return the content of the first section of a name; empty if there is none."""
        return next((self.content(each) for each in self.sections if each.name == name), b"")


def read_elf(data: bytes) -> ElfFile:
    """Read an ELF file.

    Raises:
        NotElf: the data is not an ELF file, or is damaged.
    """
    try:
        return _read(data)
    except struct.error as error:
        raise NotElf("it is cut off") from error
    except (IndexError, ValueError, OverflowError) as error:
        raise NotElf(str(error)) from error


def text_at(table: bytes, start: int) -> str:
    """Return the name at an offset of a table of names.

    Raises:
        ValueError: the name has no end, or is too long.
    """
    return table[start : table.index(b"\0", start, start + _LONGEST_NAME)].decode("ascii", "replace")


def _read(data: bytes) -> ElfFile:
    if not data.startswith(MAGIC):
        raise ValueError("it is not an ELF file with 64 bits")
    ident, _, machine, *fields = _HEADER.unpack_from(data)
    table, flags, size, count, names_index = fields[3], fields[4], fields[8], fields[9], fields[10]
    if size != _SECTION.size or count > _MOST_SECTIONS or names_index >= count:
        raise ValueError("the table of its sections is damaged")
    headers = [_SECTION.unpack_from(data, table + index * size) for index in range(count)]
    start, end = _extent(data, headers[names_index])
    names = data[start:end]
    sections = []
    for header in headers:
        start, end = _extent(data, header)
        sections.append(Section(text_at(names, header[0]), header[7], start, end - start, header[5]))
    return ElfFile(data, machine, ident[8], flags, tuple(sections))


def _extent(data: bytes, header: tuple[int, ...]) -> tuple[int, int]:
    kind, offset, size = header[1], header[4], header[5]
    if kind == _NO_CONTENT:
        return 0, 0
    if offset + size > len(data):
        raise ValueError("a section lies outside of the file")
    return offset, offset + size
