"""The passes of Triton that other passes and modules are seen against, by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

Role = Literal[
    "replace tensor descriptors",
    "allocate shared memory",
    "allocate tensor memory",
    "insert barriers",
    "lower to LLVM",
    "choose layouts of accesses",
    "remove layout conversions",
]

_NAMES: Mapping[Role, re.Pattern[str]] = {
    "replace tensor descriptors": re.compile(r"rewrite-tensor-descriptor-to-pointer$"),
    "allocate shared memory": re.compile(r"^allocate-(\w+-)?shared-memory"),
    "allocate tensor memory": re.compile(r"tensor-memory-allocation$"),
    "insert barriers": re.compile(r"gpu-membar$"),
    "lower to LLVM": re.compile(r"^convert-triton(\w*-gpu|-amdgpu)-to-llvm$"),
    "choose layouts of accesses": re.compile(r"-coalesce$"),
    "remove layout conversions": re.compile(r"-remove-layout-conversions$"),
}


def has_role(name: str, role: Role) -> bool:
    """Return whether a pass, by its name, does this to the module."""
    return _NAMES[role].search(name) is not None
