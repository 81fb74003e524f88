"""NVIDIA GPUs, by compute capability.

Source of what a multiprocessor has: CUDA programming guide, technical specifications by compute capability.
"""

from __future__ import annotations

import re

from explorer.model import Resources
from explorer.pipeline.targets.device import GIB, KIB, MIB, Device, Multiprocessor
from explorer.pipeline.targets.target import Target


def read_ptxas_log(log: str) -> Resources:
    """Read `ptxas -v`'s report of one kernel.

    Source: ptxas of CUDA 12.8 and 13.1, as shipped in Triton 3.6 and 3.9.
    """

    def number(pattern: str) -> int | None:
        found = re.search(pattern, log)
        return int(found.group(1)) if found else None

    return Resources(
        registers=number(r"Used (\d+) registers"),
        barriers=number(r"used (\d+) barriers"),
        stack_bytes=number(r"(\d+) bytes stack frame"),
        spill_stores_bytes=number(r"(\d+) bytes spill stores"),
        spill_loads_bytes=number(r"(\d+) bytes spill loads"),
        constant_bytes=number(r"(\d+) bytes cmem\[0\]"),
    )


def _multiprocessor(warps: int, blocks: int, shared_kib: int) -> Multiprocessor:
    """A streaming multiprocessor: four partitions of 64 KiB of registers; the system keeps 1 KiB a block."""
    return Multiprocessor(
        warp_size=32,
        partitions=4,
        warps_per_partition=warps // 4,
        registers_per_lane=512,
        register_granule=8,
        registers_per_thread=255,
        blocks=blocks,
        shared_bytes=shared_kib * KIB,
        shared_bytes_per_block=(shared_kib - 1) * KIB,
        shared_granule_bytes=128,
        reserved_shared_bytes=KIB,
    )


def _target(capability: int, title: str, device: Device) -> Target:
    return Target(
        title=title,
        architecture=f"sm_{capability}",
        vendor="NVIDIA",
        backend="cuda",
        triton_architecture=capability,
        binary="cubin",
        read_resources=read_ptxas_log,
        device=device,
    )


_SM_80 = _multiprocessor(warps=64, blocks=32, shared_kib=164)
_SM_86 = _multiprocessor(warps=48, blocks=16, shared_kib=100)
_SM_89 = _multiprocessor(warps=48, blocks=24, shared_kib=100)
_SM_90 = _multiprocessor(warps=64, blocks=32, shared_kib=228)

NVIDIA_TARGETS = (
    _target(80, "A100", Device(
        "NVIDIA A100-SXM4-80GB", (8, 0), 108, 80 * GIB, 40 * MIB, 1410000, 1593000, 5120, _SM_80,
    )),
    _target(86, "RTX 30, A10, A40", Device(
        "NVIDIA GeForce RTX 3090", (8, 6), 82, 24 * GIB, 6 * MIB, 1695000, 9751000, 384, _SM_86,
    )),
    _target(89, "RTX 40, L4, L40S", Device(
        "NVIDIA GeForce RTX 4090", (8, 9), 128, 24 * GIB, 72 * MIB, 2520000, 10501000, 384, _SM_89,
    )),
    _target(90, "H100, H200, GH200", Device(
        "NVIDIA H100 80GB HBM3", (9, 0), 132, 80 * GIB, 50 * MIB, 1980000, 2619000, 5120, _SM_90,
    )),
    _target(100, "B200, GB200", Device(
        "NVIDIA B200", (10, 0), 148, 180 * GIB, 126 * MIB, 1965000, 3996000, 8192, _SM_90,
    )),
    _target(120, "RTX 50, RTX PRO 6000", Device(
        "NVIDIA GeForce RTX 5090", (12, 0), 170, 32 * GIB, 96 * MIB, 2407000, 14001000, 512, _SM_89,
    )),
)  # fmt: skip
