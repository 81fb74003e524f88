"""The types of the figures of a GPU: the properties that its driver reports, and the resources of a
multiprocessor.
"""

from __future__ import annotations

from dataclasses import dataclass

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

#: The width of a bank of shared memory. A bank serves one word of this width in a clock cycle.
BANK_BYTES = 4
#: The number of banks of shared memory of every NVIDIA GPU, and of most AMD GPUs.
BANKS = 32
#: The most threads of one block.
THREADS_PER_BLOCK = 1024
#: The unit in which global memory is read and written.
SECTOR_BYTES = 32
#: The most that one lane moves with one instruction.
LANE_ACCESS_BYTES = 16
#: The width of a register of one lane.
REGISTER_BITS = 32
#: The most programs of a launch: the limit of the first dimension of a CUDA grid.
PROGRAMS_PER_LAUNCH = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Multiprocessor:
    """The resources of one multiprocessor. `registers` counts the registers of one partition, per lane.

    `warp_size` is the number of lanes of a warp, `register_granule` the step in which a warp's registers are
    allocated, per lane. `shared_bytes_per_block` is the most that one block may request;
    `reserved_shared_bytes` is the part of each block's share that the system takes. `banks` is the number of
    banks of shared memory, each of `BANK_BYTES`. `one_warp_blocks` is the most blocks of one warp; None:
    `blocks`.
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
    banks: int = BANKS
    one_warp_blocks: int | None = None
    threads_per_block: int = THREADS_PER_BLOCK

    @property
    def warps(self) -> int:
        """The largest number of resident warps."""
        return self.partitions * self.warps_per_partition

    @property
    def threads(self) -> int:
        """The largest number of resident threads."""
        return self.warps * self.warp_size

    @property
    def warps_per_block(self) -> int:
        """The largest number of warps of one block."""
        return self.threads_per_block // self.warp_size

    @property
    def registers(self) -> int:
        """The number of its 32-bit registers."""
        return self.partitions * self.registers_per_lane * self.warp_size

    def registers_of_a_thread(self, threads: int) -> int:
        """Return the most registers that each thread of a block can have."""
        return min(self.registers_per_thread, self.registers // threads)


@dataclass(frozen=True, slots=True)
class Device:
    """The best-known GPU of a target, as its driver describes it. Clocks are in kHz, widths in bits.

    `description` is HIP's name of the architecture, with its features; "" on NVIDIA.
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
