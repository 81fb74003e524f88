"""The numbers of registers that PTX and AMDGCN assembly state."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MAXNREG = re.compile(r"^\s*\.maxnreg (\d+)", re.MULTILINE)
#: Properties that LLVM states of a kernel for AMD, by comment or key.
_AMD_FACTS = (
    (r"^; NumVgprs: (\d+)", "vector registers"),
    (r"^; NumAgprs: (\d+)", "accumulation registers"),
    (r"^; TotalNumVgprs: (\d+)", "both together"),
    (r"^; (?:TotalNumSgprs|NumSgprs): (\d+)", "scalar registers of a wave"),
    (r"^\s*\.vgpr_spill_count:\s*(\d+)", "vector registers spilled"),
    (r"^\s*\.sgpr_spill_count:\s*(\d+)", "scalar registers spilled"),
    (r"^; ScratchSize: (\d+)", "bytes of scratch a lane"),
    (r"^; Occupancy: (\d+)", "waves a SIMD, by registers and shared memory, as LLVM sees it"),
)


@dataclass(frozen=True)
class Fact:
    """A named number that the assembly states."""

    name: str
    value: int


def register_limit(ptx: str) -> int | None:
    """Return the most registers of a thread that PTX allows; None if it sets no limit."""
    found = _MAXNREG.search(ptx)
    return int(found[1]) if found else None


def amd_facts(amdgcn: str) -> list[Fact]:
    """Return the facts about registers that the assembly of an AMD kernel states."""
    found = ((re.search(pattern, amdgcn, re.MULTILINE), name) for pattern, name in _AMD_FACTS)
    return [Fact(name, int(match[1])) for match, name in found if match]
