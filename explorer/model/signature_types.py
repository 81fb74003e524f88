"""The types of kernel arguments, by their names in Triton's signatures.

This module imports neither triton nor torch, so that the page can check types with the same list.
"""

from __future__ import annotations

import re

#: The element types of Triton's signatures.
TYPES = (
    "i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64",
    "fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16", "fp16", "bf16", "fp32", "fp64",
)  # fmt: skip

#: The types in a signature: a scalar, a pointer, a tuple or a descriptor.
TYPE_PATTERN = rf"^(?:\*k?)*(?:{'|'.join(TYPES)}|\(.*\))$|^nvTmaDesc$|^tensordesc(?:_im2col)?<.*>$"

_TYPE = re.compile(TYPE_PATTERN, re.DOTALL)
_INTEGER = re.compile(r"([iu])(\d+)")


def is_type(text: str) -> bool:
    """Return whether `text` is a type that a signature may contain."""
    return bool(_TYPE.match(text))


def value_range(kind: str) -> range | None:
    """Return the values of an integer type, or None for other types."""
    found = _INTEGER.fullmatch(kind)
    if found is None:
        return None
    bits = int(found[2])
    if found[1] == "u" or bits == 1:
        return range(2**bits)
    return range(-(2 ** (bits - 1)), 2 ** (bits - 1))
