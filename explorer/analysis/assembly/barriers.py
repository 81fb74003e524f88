"""Barriers of all threads of a block, in the text of each stage."""

from __future__ import annotations

import re

from explorer.analysis.memory.hazards import BARRIERS
from explorer.analysis.mlir.operations import operation_name

_BARRIERS = {
    "llir": re.compile(r"@llvm\.(?:nvvm\.barrier0?\b|nvvm\.barrier\.cta\.sync|amdgcn\.s\.barrier)"),
    "ptx": re.compile(r"^\s*(?:@!?%\w+\s+)?(?:bar|barrier)(?:\.cta)?\.sync\b"),
    "sass": re.compile(r"\bBAR\.SYNC"),
    "amdgcn": re.compile(r"^\s+s_barrier(?!_signal)"),
}
#: The stages after MLIR.
STAGES_OF_INSTRUCTIONS = frozenset(_BARRIERS)


def is_barrier(line: str, stage: str) -> bool:
    """Return whether a line of a stage is a barrier; a stage that is not known here is a module in MLIR."""
    pattern = _BARRIERS.get(stage)
    return pattern.search(line) is not None if pattern else operation_name(line) in BARRIERS
