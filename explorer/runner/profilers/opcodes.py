"""The instructions of a kernel by offset, and its arithmetic operations from their execution counts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

#: The kind of the operations of an instruction, and their number per thread: a multiply-add is two, and a
#: "2" at the end of the name means that the instruction works on two numbers at once.
_OPERATIONS = {
    "FADD": ("fp32", 1),
    "FMUL": ("fp32", 1),
    "FFMA": ("fp32", 2),
    "FADD2": ("fp32", 2),
    "FMUL2": ("fp32", 2),
    "FFMA2": ("fp32", 4),
    "HADD2": ("fp16", 2),
    "HMUL2": ("fp16", 2),
    "HFMA2": ("fp16", 4),
    "DADD": ("fp64", 1),
    "DMUL": ("fp64", 1),
    "DFMA": ("fp64", 2),
}
_INSTRUCTION = re.compile(
    r"^\s*/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)([^;]*);", re.MULTILINE
)
#: Not arithmetic: a conversion of fp16 to fp32 by adding zero, and a register set by multiplying zero.
_CONVERSION, _NOTHING_MULTIPLIED = "HADD2.F32", "-RZ, RZ,"


_LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+([^;]*?)\s*;", re.MULTILINE)


def code_of(listing: str, kernel: str) -> str:
    """Return the part of nvdisasm's `listing` with the kernel, without functions that it calls."""
    found = re.search(
        rf"^\.text\.{re.escape(kernel)}:(.*?)(?=^\s*\.section|\Z)", listing, re.MULTILINE | re.DOTALL
    )
    return found[1] if found else listing


def instructions(code: str) -> dict[int, str]:
    """Return each instruction by its offset in bytes."""
    return {int(offset, 16): text for offset, text in _LINE.findall(code)}


def operations(threads: Mapping[int, float], code: str) -> dict[str, float]:
    """Count operations by kind. `threads` execute the instruction at each offset of `code`."""
    found: dict[str, float] = defaultdict(float)
    for offset, name, operands in _INSTRUCTION.findall(code):
        kind, count = _OPERATIONS.get(name.split(".")[0], ("", 0))
        if count and not name.startswith(_CONVERSION) and _NOTHING_MULTIPLIED not in operands:
            found[kind] += count * threads.get(int(offset, 16), 0.0)
    return {kind: count for kind, count in found.items() if count}
