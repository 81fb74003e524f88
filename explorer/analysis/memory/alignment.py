"""The alignment that a buffer of shared memory needs.

Source: Triton 3.6 and 3.9: `getExplicitValueSize` and `getScratchValueSize` of lib/Analysis/Allocation.cpp
(128 bytes for scratch), `BufferT` of include/triton/Analysis/Allocation.h (4 where nothing is said), and
`getAlignment` of the shared encodings in lib/Dialect/TritonGPU/IR/Dialect.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from explorer.analysis.mlir.operations import Operation

_SCRATCH_BYTES = 128
_FUNCTION_BYTES = 4
_ORDINARY_BYTES = 16
_STATED = re.compile(r"\balignment = (\d+)")
_SWIZZLING = re.compile(r"swizzlingByteWidth = (\d+)")


def alignment_bytes(use: str, owner: Operation, memdesc: str, layouts: Mapping[str, str]) -> int | None:
    """Return the alignment of a buffer; None if the text does not determine it.

    `memdesc` is the inside of an explicit buffer's type, `layouts` are the module's aliases.
    """
    if use == "virtual":
        return _SCRATCH_BYTES
    if use == "scratch":
        if owner.name.endswith(".func"):
            return _FUNCTION_BYTES
        # What a warp specialization captures is aligned as the widest of its values.
        return None if owner.name == "ttg.warp_specialize" else _SCRATCH_BYTES
    attributes = owner.text.partition(" : ")[0]
    stated = _STATED.search(attributes)
    if stated:
        return int(stated[1])
    return _by_encoding(memdesc, layouts)


def _by_encoding(memdesc: str, layouts: Mapping[str, str]) -> int | None:
    encoding = memdesc.partition(", ")[2]
    alias = re.match(r"#\w+(?=,|$)", encoding)
    layout = layouts.get(alias[0], "") if alias else encoding
    if layout.startswith("#ttg.nvmma_shared"):
        swizzling = _SWIZZLING.search(layout)
        return 128 * max(int(swizzling[1]) // 16, 1) if swizzling else None
    if layout.startswith("#ttg.shared_linear"):
        stated = _STATED.search(layout)
        return int(stated[1]) if stated else None
    known = ("#ttg.swizzled_shared", "#ttg.padded_shared", "#ttg.amd_rotating_shared")
    return _ORDINARY_BYTES if layout.startswith(known) else None
