"""The messages of ptxas that say why matrix instructions run one after another."""

from __future__ import annotations

import re

_SERIALIZED = re.compile(r"wgmma\.mma_async instructions are serialized due to (.+?) (?:in|for) the function")


def reason_of_serialization(message: str) -> str:
    """Return why ptxas serializes the matrix instructions of a function; "" if it says something else."""
    match = _SERIALIZED.search(message)
    return match[1] if match else ""
