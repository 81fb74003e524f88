"""How much of a GPU a kernel can fill, from what its binary needs: the theoretical occupancy.

In: a target, threads of a block, registers of a thread, shared bytes of a block. Out: how many blocks fit on
one multiprocessor (a compute unit on AMD), which resource stops the next one, and the share of warps
that this keeps active. It says what the hardware allows, not what a launch reaches: a small grid fills less.

Source: NVIDIA: CUDA programming guide, technical specifications by compute capability, and the allocation
rules of Nsight Compute's occupancy calculator, checked against Nsight Compute on an H200. AMD: LLVM's
AMDGPU back end (its user guide, and `llvm-calc-occupancy`), checked against the "Occupancy" comment that it
writes into the assembly of each kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Limiter = Literal["warps", "registers", "shared memory", "blocks"]


@dataclass(frozen=True)
class Multiprocessor:
    """What one multiprocessor has to share out. Registers are those of one partition, per lane.

    `register_granule` is the step in which a warp's registers are allocated, per lane, and `wave_size` the
    number of lanes of a warp. `reserved_shared_bytes` is what the system takes of each block's share.
    `shared_bytes_per_block` is the most that one block may ask for.
    """

    wave_size: int
    partitions: int
    warps_per_partition: int
    registers_per_lane: int
    register_granule: int
    registers_per_thread: int
    blocks: int
    shared_bytes: int
    shared_bytes_per_block: int
    shared_granule_bytes: int
    reserved_shared_bytes: int = 0

    @property
    def warps(self) -> int:
        return self.partitions * self.warps_per_partition


@dataclass(frozen=True)
class Limits:
    """How many blocks would fit if this resource were the only one."""

    warps: int
    registers: int
    shared_memory: int
    blocks: int


@dataclass(frozen=True)
class Occupancy:
    """`share` is active warps by possible warps, from 0 to 1; 0 where not even one block fits."""

    share: float
    limiter: Limiter
    blocks_per_multiprocessor: int
    active_warps: int
    limits: Limits


@dataclass(frozen=True)
class Gpu:
    """A product that people know. Of gfx1100, work-group processors are counted: two compute units each."""

    name: str
    target: str
    multiprocessors: int


_THREADS_PER_BLOCK = 1024


def _nvidia(warps: int, blocks: int, shared_kib: int) -> Multiprocessor:
    """A streaming multiprocessor: four partitions of 64 KiB of registers; the system keeps 1 KiB a block."""
    return Multiprocessor(
        wave_size=32,
        partitions=4,
        warps_per_partition=warps // 4,
        registers_per_lane=512,
        register_granule=8,
        registers_per_thread=255,
        blocks=blocks,
        shared_bytes=shared_kib * 1024,
        shared_bytes_per_block=(shared_kib - 1) * 1024,
        shared_granule_bytes=128,
        reserved_shared_bytes=1024,
    )


def _cdna(shared_kib: int, shared_granule_bytes: int) -> Multiprocessor:
    """A compute unit of CDNA 3 and 4: a wave shares 512 registers a lane between vectors and accumulation."""
    return Multiprocessor(
        wave_size=64,
        partitions=4,
        warps_per_partition=8,
        registers_per_lane=512,
        register_granule=8,
        registers_per_thread=512,
        blocks=16,
        shared_bytes=shared_kib * 1024,
        shared_bytes_per_block=shared_kib * 1024,
        shared_granule_bytes=shared_granule_bytes,
    )


#: A work-group processor of RDNA 3, as LLVM compiles for it by default: four SIMDs share 128 KiB.
_RDNA3 = Multiprocessor(
    wave_size=32,
    partitions=4,
    warps_per_partition=16,
    registers_per_lane=1536,
    register_granule=24,
    registers_per_thread=256,
    blocks=32,
    shared_bytes=128 * 1024,
    shared_bytes_per_block=64 * 1024,
    shared_granule_bytes=512,
)

MULTIPROCESSORS: Mapping[str, Multiprocessor] = MappingProxyType(
    {
        "cuda:80": _nvidia(warps=64, blocks=32, shared_kib=164),
        "cuda:86": _nvidia(warps=48, blocks=16, shared_kib=100),
        "cuda:89": _nvidia(warps=48, blocks=24, shared_kib=100),
        "cuda:90": _nvidia(warps=64, blocks=32, shared_kib=228),
        "cuda:100": _nvidia(warps=64, blocks=32, shared_kib=228),
        "cuda:120": _nvidia(warps=48, blocks=24, shared_kib=100),
        "hip:gfx942": _cdna(shared_kib=64, shared_granule_bytes=512),
        "hip:gfx950": _cdna(shared_kib=160, shared_granule_bytes=1280),
        "hip:gfx1100": _RDNA3,
    }
)

GPUS: tuple[Gpu, ...] = (
    Gpu("A100", "cuda:80", 108),
    Gpu("A10", "cuda:86", 72),
    Gpu("A40", "cuda:86", 84),
    Gpu("RTX 3090", "cuda:86", 82),
    Gpu("L4", "cuda:89", 58),
    Gpu("L40S", "cuda:89", 142),
    Gpu("RTX 4090", "cuda:89", 128),
    Gpu("H100 PCIe", "cuda:90", 114),
    Gpu("H100 SXM", "cuda:90", 132),
    Gpu("H200", "cuda:90", 132),
    Gpu("B200", "cuda:100", 148),
    Gpu("RTX 5090", "cuda:120", 170),
    Gpu("MI300A", "hip:gfx942", 228),
    Gpu("MI300X", "hip:gfx942", 304),
    Gpu("MI325X", "hip:gfx942", 304),
    Gpu("MI350X", "hip:gfx950", 256),
    Gpu("MI355X", "hip:gfx950", 256),
    Gpu("RX 7900 XTX", "hip:gfx1100", 48),
)


def occupancy(target: str, threads: int, registers: int, shared_bytes: int) -> Occupancy | None:
    """Work out the theoretical occupancy of a kernel on a target ("cuda:90", "hip:gfx942").

    `registers` are those of one thread; on AMD vector registers, with the accumulation registers of
    gfx90a and later counted in, as the assembler's "TotalNumVgprs". Scalar registers are left out: they
    always leave room for seven waves of eight. Where several resources stop the next block, the limiter
    is the one that can be changed least, in the order warps, blocks, registers, shared memory.
    None for a target that we know no limits of.
    """
    machine = MULTIPROCESSORS.get(target)
    if machine is None or threads <= 0:
        return None
    limits = _limits(machine, threads, registers, shared_bytes)
    by_resource: dict[Limiter, int] = {
        "warps": limits.warps,
        "blocks": limits.blocks,
        "registers": limits.registers,
        "shared memory": limits.shared_memory,
    }
    limiter = min(by_resource, key=lambda resource: by_resource[resource])
    blocks = by_resource[limiter]
    active_warps = blocks * _round_up(threads, machine.wave_size) // machine.wave_size
    return Occupancy(active_warps / machine.warps, limiter, blocks, active_warps, limits)


def _limits(machine: Multiprocessor, threads: int, registers: int, shared_bytes: int) -> Limits:
    warps = _round_up(threads, machine.wave_size) // machine.wave_size
    return Limits(
        warps=machine.warps // warps if threads <= _THREADS_PER_BLOCK else 0,
        registers=_blocks_by_registers(machine, warps, registers),
        shared_memory=_blocks_by_shared_memory(machine, shared_bytes),
        # A work-group of one wave needs no barrier, and so none of the slots for work-groups on AMD.
        blocks=machine.blocks if warps > 1 or machine.reserved_shared_bytes else machine.warps,
    )


def _blocks_by_registers(machine: Multiprocessor, warps: int, registers: int) -> int:
    """A warp's registers all come from one partition; a partition holds whole warps only."""
    if registers > machine.registers_per_thread:
        return 0
    allocated = _round_up(max(registers, 1), machine.register_granule)
    in_partition = min(machine.registers_per_lane // allocated, machine.warps_per_partition)
    return machine.partitions * in_partition // warps


def _blocks_by_shared_memory(machine: Multiprocessor, shared_bytes: int) -> int:
    if shared_bytes > machine.shared_bytes_per_block:
        return 0
    allocated = _round_up(shared_bytes + machine.reserved_shared_bytes, machine.shared_granule_bytes)
    return machine.shared_bytes // allocated if allocated else machine.warps


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step
