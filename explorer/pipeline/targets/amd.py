"""AMD GPUs, by gfx architecture. Of RDNA, work-group processors are counted: two compute units each.

Source of what a multiprocessor has: LLVM's AMDGPU back end (its user guide).
"""

from __future__ import annotations

import re

from explorer.model import Resources
from explorer.pipeline.targets.device import GIB, KIB, MIB, Device, Multiprocessor
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


def _compute_unit(shared_kib: int, shared_granule_bytes: int) -> Multiprocessor:
    """A compute unit of CDNA 3 and 4: a wave shares 512 registers a lane between vectors and accumulation."""
    return Multiprocessor(
        warp_size=64,
        partitions=4,
        warps_per_partition=8,
        registers_per_lane=512,
        register_granule=8,
        registers_per_thread=512,
        blocks=16,
        shared_bytes=shared_kib * KIB,
        shared_bytes_per_block=shared_kib * KIB,
        shared_granule_bytes=shared_granule_bytes,
    )


#: A work-group processor of RDNA 3, as LLVM compiles for it by default: four SIMDs share 128 KiB.
_WORK_GROUP_PROCESSOR = Multiprocessor(
    warp_size=32,
    partitions=4,
    warps_per_partition=16,
    registers_per_lane=1536,
    register_granule=24,
    registers_per_thread=256,
    blocks=32,
    shared_bytes=128 * KIB,
    shared_bytes_per_block=64 * KIB,
    shared_granule_bytes=512,
)


def _target(architecture: str, title: str, device: Device) -> Target:
    return Target(
        title=title,
        architecture=architecture,
        vendor="AMD",
        backend="hip",
        triton_architecture=architecture,
        binary="hsaco",
        read_resources=read_assembly_comments,
        device=device,
    )


AMD_TARGETS = (
    _target("gfx942", "MI300X, MI325X", Device(
        "AMD Instinct MI300X", (9, 4), 304, 192 * GIB, 4 * MIB, 2100000, 1300000, 8192,
        _compute_unit(shared_kib=64, shared_granule_bytes=512), "gfx942:sramecc+:xnack-",
    )),
    _target("gfx950", "MI350X, MI355X", Device(
        "AMD Instinct MI355X", (9, 5), 256, 288 * GIB, 4 * MIB, 2400000, 2000000, 8192,
        _compute_unit(shared_kib=160, shared_granule_bytes=1280), "gfx950:sramecc+:xnack-",
    )),
    _target("gfx1100", "RX 7900, W7900", Device(
        "AMD Radeon RX 7900 XTX", (11, 0), 48, 24 * GIB, 6 * MIB, 2482000, 1249000, 384,
        _WORK_GROUP_PROCESSOR, "gfx1100",
    )),
)  # fmt: skip
