"""AMD GPUs, by gfx architecture."""

from __future__ import annotations

import re

from explorer.model import Resources
from explorer.pipeline.targets.target import Target


def read_assembly_comments(assembly: str) -> Resources:
    """Read the kernel's summary that LLVM writes as comments and metadata into AMDGCN assembly.

    Spills are counted by LLVM in registers; a register of a lane is 4 bytes.
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


def _target(architecture: str, title: str, warp_size: int) -> Target:
    return Target(
        name=f"hip:{architecture}",
        title=title,
        architecture=architecture,
        vendor="AMD",
        backend="hip",
        triton_architecture=architecture,
        warp_size=warp_size,
        stages=("ast", "ttir", "ttgir", "llir", "amdgcn"),
        backend_module="triton.backends.amd.compiler",
        vendor_namespace="amd",
        binary="hsaco",
        read_resources=read_assembly_comments,
    )


AMD_TARGETS = (
    _target("gfx942", "MI300X, MI325X", 64),
    _target("gfx950", "MI350X, MI355X", 64),
    _target("gfx1100", "RX 7900, W7900", 32),
)
