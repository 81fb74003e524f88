"""AMD's tools: the assembly printer of LLVM."""

from __future__ import annotations

import re

from explorer.model import Resources
from explorer.pipeline.targets.tools import VendorTools


def read_assembly_comments(assembly: str) -> Resources:
    """Read the kernel's summary, which LLVM writes as comments and metadata into AMDGCN assembly.

    LLVM counts spills in registers; a register of a lane has 4 bytes.

    Source: LLVM's AMDGPU assembly printer, as in Triton 3.6 and 3.9.
    """

    def number(pattern: str) -> int | None:
        found = re.search(pattern, assembly, re.MULTILINE)
        return int(found.group(1)) if found else None

    spilled = number(r"^\s*\.vgpr_spill_count:\s*(\d+)")
    spilled_bytes = None if spilled is None else 4 * spilled
    total = number(r"^; TotalNumVgprs: (\d+)")
    return Resources(
        registers=number(r"^; NumVgprs: (\d+)") if total is None else total,
        scalar_registers=number(r"^; (?:TotalNumSgprs|NumSgprs): (\d+)"),
        spill_stores_bytes=spilled_bytes,
        spill_loads_bytes=spilled_bytes,
        stack_bytes=number(r"^; ScratchSize: (\d+)"),
    )


AMD_TOOLS = VendorTools("hsaco", read_assembly_comments, "amd")
