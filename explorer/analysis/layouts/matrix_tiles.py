"""The tile of a matrix instruction, from an encoding or from the name of the instruction."""

from __future__ import annotations

import re

_INSTRUCTION = re.compile(r"[._](?:m(\d+)n(\d+)k(\d+)|\w*?_(\d+)x(\d+)x(\d+))")
_SHAPE = re.compile(r"instrShape = \[([\d, ]+)\]")
_BLOCKS = re.compile(r"tensor_memory_encoding<blockM = (\d+), blockN = (\d+)")
_WGMMA_ROWS = 64
#: The bits of a row of an operand that NVIDIA's instructions take at once.
_ROW_BITS = 256


def tile_of_instruction(name: str) -> str:
    """`m64n128k16` of wgmma and mma.sync, `32×32×8` of mfma and wmma; "" where the name does not say it."""
    found = _INSTRUCTION.search(name)
    if not found:
        return ""
    return f"m{found[1]}n{found[2]}k{found[3]}" if found[1] else f"{found[4]}×{found[5]}×{found[6]}"


def tile_of_encoding(encoding: str, operand_bits: int) -> str:
    """Return the tile from the encoding of the result; "" if the encoding does not contain it."""
    shape = _SHAPE.search(encoding)
    sizes = [int(size) for size in shape[1].split(",")] if shape else []
    if "nvidia_mma" in encoding and sizes:
        depth = _ROW_BITS // operand_bits
        if "versionMajor = 3" in encoding:
            return f"m{_WGMMA_ROWS}n{sizes[1]}k{depth}"
        return f"m{sizes[-2]}n{sizes[-1]}k{depth}"
    blocks = _BLOCKS.search(encoding)
    if blocks:
        return f"m{blocks[1]}n{blocks[2]}k{_ROW_BITS // operand_bits}"
    if "amd_mfma" in encoding or "amd_wmma" in encoding:
        return "×".join(map(str, sizes))
    return ""
