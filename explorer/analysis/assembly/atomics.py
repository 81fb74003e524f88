"""Atomic instructions of machine code, the compare-and-swap loops among them, and the reasons for loops.

Source: the names of the instructions in NVIDIA's "CUDA binary utilities" and AMD's instruction set manuals.
The reasons: SIISelLowering.cpp and NVPTXISelLowering.cpp of LLVM (`shouldExpandAtomicRMWInIR`), and "LLVM IR
Metadata" in LLVM's "User Guide for AMDGPU Backend".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_ATOMIC = re.compile(r"\b((?:ATOM|RED)[GS]?\.[\w.]+|(?:global|flat|buffer|ds)_\w*(?:atomic|cmpst)\w*)")
_COMPARE_AND_SWAP = re.compile(r"\.CAS\b|cmpswap|cmpst")

#: The types without an atomic addition, by architecture.
_NOT_ADDED = {
    **dict.fromkeys(("sm_75", "sm_80", "sm_86", "sm_89"), ("bf16",)),
    "gfx1100": ("f16", "bf16", "f64"),
}


def atomic_instructions(lines: Iterable[str]) -> list[str]:
    """Return the names of the atomic instructions in lines of SASS or AMDGCN, each once."""
    return list(dict.fromkeys(found[1] for line in lines if (found := _ATOMIC.search(line))))


def is_compare_and_swap(instruction: str) -> bool:
    """Return whether an atomic instruction, by its name, compares and swaps."""
    return _COMPARE_AND_SWAP.search(instruction) is not None


def loop_reason(architecture: str, operation: str, element: str, scope: str) -> str:
    """Return why an atomic operation that is not a compare-and-swap becomes a loop, as sentences.

    `operation`, `element` and `scope` are written as in TTGIR: "fadd", "f32", "gpu".
    """
    if operation == "fadd" and element in _NOT_ADDED.get(architecture, ()):
        return f"The target has no atomic instruction that adds values of `{element}`."
    if operation == "fadd" and element in ("f16", "bf16"):
        return (
            f"The target's atomic instruction adds pairs of neighboring values of `{element}`, and the "
            "compiler cannot pair all of these values."
        )
    if architecture.startswith("gfx"):
        return (
            f"The target has an atomic instruction for it. With the scope `{scope}`, LLVM uses it only if "
            "the memory is known not to be fine-grained, such as memory that is shared with the host. "
            "Triton does not tell LLVM so (`!amdgpu.no.fine.grained.memory`)."
        )
    return ""
