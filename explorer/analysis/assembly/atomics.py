"""Atomic instructions of machine code, and the compare-and-swap loops among them.

Source: the names of the instructions in NVIDIA's "CUDA binary utilities" and AMD's instruction set manuals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_ATOMIC = re.compile(r"\b((?:ATOM|RED)[GS]?\.[\w.]+|(?:global|flat|buffer|ds)_\w*(?:atomic|cmpst)\w*)")
_COMPARE_AND_SWAP = re.compile(r"\.CAS\b|cmpswap|cmpst")


def atomic_instructions(lines: Iterable[str]) -> list[str]:
    """Return the names of the atomic instructions in lines of SASS or AMDGCN, each once."""
    return list(dict.fromkeys(found[1] for line in lines if (found := _ATOMIC.search(line))))


def is_compare_and_swap(instruction: str) -> bool:
    """Return whether an atomic instruction, by its name, compares and swaps."""
    return _COMPARE_AND_SWAP.search(instruction) is not None
