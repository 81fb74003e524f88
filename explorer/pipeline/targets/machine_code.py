"""The machine code of a binary, without debug information: the names and lines of its files.

A cubin and an hsaco are ELF files. Two files compiled from copies of a kernel in different places differ only
in their debug information.
"""

from __future__ import annotations

import hashlib

from explorer.pipeline.targets.elf import NotElf, read_elf

#: The sections that a launch loads and reads.
_LOADED = (".text", ".nv.constant", ".nv.global", ".nv.info.", ".rodata", ".data")


def machine_code_digest(binary: bytes) -> str | None:
    """Return the digest of all code and constants; None if the binary is not ELF or is damaged."""
    try:
        elf = read_elf(binary)
    except NotElf:
        return None
    digest, found = hashlib.sha256(), 0
    for section in elf.sections:
        if section.name.startswith(_LOADED):
            found += section.size
            if found > len(binary):  # they overlap
                return None
            # The number of registers is in the information of the section.
            digest.update(f"{section.name}\0{section.info >> 24}\0{section.size}\0".encode())
            digest.update(elf.content(section))
    return digest.hexdigest() if found else None
