"""Texts without the parts that may differ although the programs are equal. Diffs compare these texts."""

from __future__ import annotations

import re

from explorer.model.languages import find_language

#: !tt.tensordesc<tensor<128x64xf16>>
_DESCRIPTOR = re.compile(r"<tensor<([^<>]*+)>>")
#: Other line information shifts the numbers of LLVM's metadata.
_METADATA_NUMBER = re.compile(r"!\d+\b")


def without_unstable(text: str, language: str) -> str:
    """Return a text without parts that depend on other lines, such as addresses and the numbers of values."""
    for pattern, replacement in find_language(language).unstable:
        text = re.sub(pattern, replacement, text)
    return text


def in_one_notation(module: str) -> str:
    """Return a module with the types of tensor descriptors as Triton 3.8 and later write them."""
    return _DESCRIPTOR.sub(r"<\1>", module)


def without_metadata_numbers(llvm_ir: str) -> str:
    """Return LLVM IR without the numbers of its metadata."""
    return _METADATA_NUMBER.sub("!", llvm_ir)
