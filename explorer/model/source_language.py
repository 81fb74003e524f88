"""The language of a source, by its first lines: Python, or the language of a stage.

No rule matches Python: MLIR, LLVM IR and assembly begin with text that Python's parser refuses.
"""

from __future__ import annotations

import re
from typing import Literal

SourceLanguage = Literal["python", "ttir", "glir", "ttgir", "llir", "ptx", "amdgcn"]

#: The languages of kernels.
KernelLanguage = Literal["triton", "gluon", "ttir", "glir", "ttgir", "llir", "ptx", "amdgcn"]

#: White space, comments of MLIR, LLVM IR and assembly, and aliases of MLIR such as `#blocked = …`. The web
#: process reads sources with these: possessive quantifiers avoid backtracking.
_BEFORE = re.compile(r"\ufeff?+(?:\s*+(?://|;|#)[^\n]*+\n)*+\s*+")
_MODULE = re.compile(r'(?:(?:builtin\.)?module\b[^=\n]*?(?:\{|attributes\b)|"builtin\.module"|tt\.func\b)')
_LLVM = re.compile(
    r'(?:source_filename = "[^"]*+"\s*+)?+(?:target (?:datalayout|triple) = |define |@\S++ = )'
)
_PTX = re.compile(r"\.version\s++\d")
_AMDGCN = re.compile(r"\.(?:amdgcn_target|amdhsa_|text\b|section\b)")
_GLUON_OPERATION = re.compile(r"(?<![\w.])#?gluon\.\w")
_LAYOUTS = re.compile(r"\bttg\.num-warps\b|^#\w+ = #ttg\.", re.MULTILINE)


def source_language(source: str) -> SourceLanguage:
    """Return "python", or the name of the stage whose text the source is."""
    before = _BEFORE.match(source)
    start = before.end() if before else 0
    if _MODULE.match(source, start):
        if _GLUON_OPERATION.search(source):
            return "glir"
        return "ttgir" if _LAYOUTS.search(source) else "ttir"
    if _LLVM.match(source, start):
        return "llir"
    if _PTX.match(source, start):
        return "ptx"
    return "amdgcn" if _AMDGCN.match(source, start) else "python"
