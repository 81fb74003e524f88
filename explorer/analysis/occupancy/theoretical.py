"""The theoretical occupancy of a kernel, from the resources that its binary needs.

In: a target, threads of a block, registers of a thread, shared bytes of a block. Out: the number of blocks
that fit on one multiprocessor (a compute unit on AMD), the resource that limits it, and the share of active
warps. A launch with a small grid reaches less.

Source: NVIDIA: the allocation rules of Nsight Compute's occupancy calculator, checked against Nsight Compute
on an H200. AMD: LLVM's AMDGPU back end (its user guide, and `llvm-calc-occupancy`), checked against the
"Occupancy" comment that it writes into the assembly of each kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.model import Resources
from explorer.model.hardware import Multiprocessor, find_target

Limiter = Literal["warps", "registers", "shared memory", "blocks"]


@dataclass(frozen=True)
class Limits:
    """The number of blocks that would fit if this resource were the only one."""

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

    @property
    def limiters(self) -> list[Limiter]:
        """All resources that prevent the next block, `limiter` first."""
        by_resource = _by_resource(self.limits)
        return [each for each, blocks in by_resource.items() if blocks == self.blocks_per_multiprocessor]


def occupancy(target: str, threads: int, registers: int, shared_bytes: int) -> Occupancy | None:
    """Compute the theoretical occupancy of a kernel on a target ("cuda:90", "hip:gfx942").

    `registers` is the number per thread; on AMD the number of vector registers, including the accumulation
    registers of gfx90a and later, as the assembler's "TotalNumVgprs". Scalar registers are left out: they
    always leave room for seven waves of eight. Where several resources prevent the next block, the limiter is
    the resource that is hardest to change, in the order warps, blocks, registers, shared memory. None without
    threads.

    Raises:
        UnknownTarget: there is no such target.
    """
    if threads <= 0:
        return None
    machine = find_target(target).device.multiprocessor
    limits = _limits(machine, threads, registers, shared_bytes)
    by_resource = _by_resource(limits)
    limiter = min(by_resource, key=lambda resource: by_resource[resource])
    blocks = by_resource[limiter]
    active_warps = blocks * _round_up(threads, machine.warp_size) // machine.warp_size
    return Occupancy(active_warps / machine.warps, limiter, blocks, active_warps, limits)


def _by_resource(limits: Limits) -> dict[Limiter, int]:
    """Return the limits by resource, the hardest to change first."""
    return {
        "warps": limits.warps,
        "blocks": limits.blocks,
        "registers": limits.registers,
        "shared memory": limits.shared_memory,
    }


def occupancy_of(needs: Resources | None, target: str) -> Occupancy | None:
    """Compute the theoretical occupancy of a binary; None if its resources are not known."""
    if needs is None or needs.threads is None or needs.registers is None or needs.shared_bytes is None:
        return None
    return occupancy(target, needs.threads, needs.registers, needs.shared_bytes)


def _limits(machine: Multiprocessor, threads: int, registers: int, shared_bytes: int) -> Limits:
    warps = _round_up(threads, machine.warp_size) // machine.warp_size
    one_warp_blocks = machine.one_warp_blocks or machine.blocks
    return Limits(
        warps=machine.warps // warps if threads <= machine.threads_per_block else 0,
        registers=_blocks_by_registers(machine, warps, registers),
        shared_memory=_blocks_by_shared_memory(machine, shared_bytes),
        blocks=machine.blocks if warps > 1 else one_warp_blocks,
    )


def _blocks_by_registers(machine: Multiprocessor, warps: int, registers: int) -> int:
    """Limit the blocks by registers alone: each partition of the register file holds whole warps."""
    if registers > machine.registers_per_thread:
        return 0
    allocated = _round_up(max(registers, 1), machine.register_granule)
    return machine.partitions * (machine.registers_per_lane // allocated) // warps


def _blocks_by_shared_memory(machine: Multiprocessor, shared_bytes: int) -> int:
    if shared_bytes > machine.shared_bytes_per_block:
        return 0
    allocated = _round_up(shared_bytes + machine.reserved_shared_bytes, machine.shared_granule_bytes)
    return machine.shared_bytes // allocated if allocated else machine.warps


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step
