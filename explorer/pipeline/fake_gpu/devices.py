"""The figures that each target's best-known GPU reports of itself."""

from __future__ import annotations

from dataclasses import dataclass

from triton.backends.compiler import GPUTarget

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


@dataclass(frozen=True)
class Device:
    """One GPU, as its driver describes it. Clocks are in kHz, widths in bits, sizes in bytes."""

    name: str
    backend: str
    capability: tuple[int, int]
    multiprocessors: int
    memory_bytes: int
    shared_bytes: int
    l2_bytes: int
    clock_khz: int
    memory_clock_khz: int
    memory_bus_bits: int
    threads_per_multiprocessor: int
    warp_size: int = 32
    registers_per_multiprocessor: int = 65536
    architecture: str = ""


DEVICES: dict[tuple[str, int | str], Device] = {
    ("cuda", 80): Device(
        "NVIDIA A100-SXM4-80GB", "cuda", (8, 0), 108, 80 * GIB,
        163 * KIB, 40 * MIB, 1410000, 1593000, 5120, 2048,
    ),
    ("cuda", 86): Device(
        "NVIDIA GeForce RTX 3090", "cuda", (8, 6), 82, 24 * GIB,
        99 * KIB, 6 * MIB, 1695000, 9751000, 384, 1536,
    ),
    ("cuda", 89): Device(
        "NVIDIA GeForce RTX 4090", "cuda", (8, 9), 128, 24 * GIB,
        99 * KIB, 72 * MIB, 2520000, 10501000, 384, 1536,
    ),
    ("cuda", 90): Device(
        "NVIDIA H100 80GB HBM3", "cuda", (9, 0), 132, 80 * GIB,
        227 * KIB, 50 * MIB, 1980000, 2619000, 5120, 2048,
    ),
    ("cuda", 100): Device(
        "NVIDIA B200", "cuda", (10, 0), 148, 180 * GIB,
        227 * KIB, 126 * MIB, 1965000, 3996000, 8192, 2048,
    ),
    ("cuda", 120): Device(
        "NVIDIA GeForce RTX 5090", "cuda", (12, 0), 170, 32 * GIB,
        99 * KIB, 96 * MIB, 2407000, 14001000, 512, 1536,
    ),
    ("hip", "gfx942"): Device(
        "AMD Instinct MI300X", "hip", (9, 4), 304, 192 * GIB,
        64 * KIB, 4 * MIB, 2100000, 1300000, 8192, 2048,
        warp_size=64, registers_per_multiprocessor=131072, architecture="gfx942:sramecc+:xnack-",
    ),
    ("hip", "gfx950"): Device(
        "AMD Instinct MI355X", "hip", (9, 5), 256, 288 * GIB,
        160 * KIB, 4 * MIB, 2400000, 2000000, 8192, 2048,
        warp_size=64, registers_per_multiprocessor=131072, architecture="gfx950:sramecc+:xnack-",
    ),
    ("hip", "gfx1100"): Device(
        "AMD Radeon RX 7900 XTX", "hip", (11, 0), 48, 24 * GIB,
        64 * KIB, 6 * MIB, 2482000, 1249000, 384, 2048,
        registers_per_multiprocessor=196608, architecture="gfx1100",
    ),
}  # fmt: skip


def device_for(target: GPUTarget) -> Device:
    """Return the GPU that stands for `target`. Raises KeyError for a target that is not supported."""
    return DEVICES[target.backend, target.arch]
