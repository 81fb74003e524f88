"""The figures of a GPU, each of them once: what its driver reports, and what a multiprocessor shares out."""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


@dataclass(frozen=True)
class Multiprocessor:
    """What one multiprocessor has to share out. Registers are those of one partition, per lane.

    `warp_size` is the number of lanes of a warp, `register_granule` the step in which a warp's registers are
    allocated, per lane. `shared_bytes_per_block` is the most that one block may ask for;
    `reserved_shared_bytes` is what the system takes of each block's share.
    """

    warp_size: int
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
        """How many warps are resident at most."""
        return self.partitions * self.warps_per_partition

    @property
    def threads(self) -> int:
        """How many threads are resident at most."""
        return self.warps * self.warp_size

    @property
    def registers(self) -> int:
        """All its registers of 32 bits."""
        return self.partitions * self.registers_per_lane * self.warp_size


@dataclass(frozen=True)
class Device:
    """The best-known GPU of a target, as its driver describes it. Clocks are in kHz, widths in bits.

    `description` is what HIP calls the architecture, with its features; "" on NVIDIA.
    """

    name: str
    capability: tuple[int, int]
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    clock_khz: int
    memory_clock_khz: int
    memory_bus_bits: int
    multiprocessor: Multiprocessor
    description: str = ""
