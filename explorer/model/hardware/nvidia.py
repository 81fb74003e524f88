"""NVIDIA GPUs, by compute capability.

Source of the resources of a multiprocessor: CUDA programming guide, technical specifications by compute
capability.
Source of rates: CUDA programming guide, "Arithmetic instructions", and the products' datasheets and
whitepapers; checked against Nsight Compute's peaks of an H200. Rates are dense; a multiply-add counts as two.
Source of the L1 cache of sm_75: Jia et al., "Dissecting the NVIDIA Turing T4 GPU via Microbenchmarking".
"""

from __future__ import annotations

from collections.abc import Mapping

from explorer.model.hardware.device import BANK_BYTES, BANKS, GIB, KIB, MIB, Device, Multiprocessor
from explorer.model.hardware.product import Product
from explorer.model.hardware.target import Target

#: The L1 cache is made of the same memory, and from Ampere on as fast.
_SHARED_BYTES_PER_CLOCK = BANKS * BANK_BYTES


def _multiprocessor(warps: int, blocks: int, shared_kib: int) -> Multiprocessor:
    """Describe a streaming multiprocessor: four partitions of 64 KiB of registers each.

    The system keeps 1 KiB of shared memory for each block.
    """
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


#: Turing has half of the warps, and the system keeps no shared memory.
_SM_75 = Multiprocessor(
    warp_size=32,
    partitions=4,
    warps_per_partition=8,
    registers_per_lane=512,
    register_granule=8,
    registers_per_thread=255,
    blocks=16,
    shared_bytes=64 * KIB,
    shared_bytes_per_block=64 * KIB,
    shared_granule_bytes=256,
)


def _target(
    capability: int,
    title: str,
    device: Device,
    operations_per_clock: Mapping[str, int],
    siblings: tuple[str, ...] = (),
    l1_bytes_per_clock: int = _SHARED_BYTES_PER_CLOCK,
) -> Target:
    return Target(
        architecture=f"sm_{capability}",
        title=title,
        vendor="NVIDIA",
        backend="cuda",
        triton_architecture=capability,
        device=device,
        operations_per_clock=operations_per_clock,
        on_chip_bytes_per_clock={"shared": _SHARED_BYTES_PER_CLOCK, "l1": l1_bytes_per_clock},
        siblings=siblings,
    )


_SM_80 = _multiprocessor(warps=64, blocks=32, shared_kib=164)
_SM_86 = _multiprocessor(warps=48, blocks=16, shared_kib=100)
_SM_89 = _multiprocessor(warps=48, blocks=24, shared_kib=100)
_SM_90 = _multiprocessor(warps=64, blocks=32, shared_kib=228)

NVIDIA_TARGETS = (
    _target(75, "T4, RTX 20, Quadro RTX", Device(
        "Tesla T4", (7, 5), 40, 16 * GIB, 4 * MIB, 1590000, 5001000, 256, _SM_75,
    ), {
        "fp32": 128, "fp16": 256, "fp64": 4, "special": 16, "tensor fp16": 1024, "tensor int8": 2048,
    }, l1_bytes_per_clock=64),
    _target(80, "A100", Device(
        "NVIDIA A100-SXM4-80GB", (8, 0), 108, 80 * GIB, 40 * MIB, 1410000, 1593000, 5120, _SM_80,
    ), {
        "fp32": 128, "fp16": 512, "bf16": 256, "fp64": 64, "special": 16, "tensor fp64": 128,
        "tensor tf32": 1024, "tensor fp16": 2048, "tensor bf16": 2048, "tensor int8": 4096,
    }),
    _target(86, "RTX 30, A10, A40", Device(
        "NVIDIA GeForce RTX 3090", (8, 6), 82, 24 * GIB, 6 * MIB, 1695000, 9751000, 384, _SM_86,
    ), {
        "fp32": 256, "fp16": 256, "bf16": 256, "fp64": 4, "special": 16, "tensor tf32": 512,
        "tensor fp16": 1024, "tensor bf16": 1024, "tensor int8": 2048,
    }, siblings=("sm_87",)),
    _target(89, "RTX 40, L4, L40S", Device(
        "NVIDIA GeForce RTX 4090", (8, 9), 128, 24 * GIB, 72 * MIB, 2520000, 10501000, 384, _SM_89,
    ), {
        "fp32": 256, "fp16": 256, "bf16": 256, "fp64": 4, "special": 16, "tensor tf32": 512,
        "tensor fp16": 1024, "tensor bf16": 1024, "tensor fp8": 2048, "tensor int8": 2048,
    }),
    _target(90, "H100, H200, GH200", Device(
        "NVIDIA H100 80GB HBM3", (9, 0), 132, 80 * GIB, 50 * MIB, 1980000, 2619000, 5120, _SM_90,
    ), {
        "fp32": 256, "fp16": 512, "bf16": 512, "fp64": 128, "special": 16, "tensor fp64": 256,
        "tensor tf32": 2048, "tensor fp16": 4096, "tensor bf16": 4096, "tensor fp8": 8192,
        "tensor int8": 8192,
    }),
    _target(100, "B200, GB200", Device(
        "NVIDIA B200", (10, 0), 148, 180 * GIB, 126 * MIB, 1965000, 3996000, 8192, _SM_90,
    ), {
        "fp32": 256, "fp16": 512, "bf16": 512, "fp64": 128, "special": 16, "tensor fp64": 128,
        "tensor tf32": 4096, "tensor fp16": 8192, "tensor bf16": 8192, "tensor fp8": 16384,
        "tensor int8": 16384, "tensor fp4": 32768,
    }, siblings=("sm_101", "sm_103")),
    _target(120, "RTX 50, RTX PRO 6000", Device(
        "NVIDIA GeForce RTX 5090", (12, 0), 170, 32 * GIB, 96 * MIB, 2407000, 14001000, 512, _SM_89,
    ), {
        "fp32": 256, "fp16": 256, "bf16": 256, "fp64": 4, "special": 16, "tensor tf32": 512,
        "tensor fp16": 1024, "tensor bf16": 1024, "tensor fp8": 2048, "tensor int8": 2048,
        "tensor fp4": 4096,
    }, siblings=("sm_121",)),
)  # fmt: skip

#: GeForce cards multiply matrices at half the rate if the sum is in fp32, as in Triton.
GEFORCE_OPERATIONS_PER_CLOCK = {
    "tensor tf32": 256,
    "tensor fp16": 512,
    "tensor bf16": 512,
    "tensor fp8": 1024,
}


def _geforce(
    pattern: str, architecture: str, multiprocessors: int, clock_mhz: float, bandwidth: float, title: str
) -> Product:
    rates = GEFORCE_OPERATIONS_PER_CLOCK
    return Product(
        pattern, architecture, multiprocessors, clock_mhz, bandwidth, title, operations_per_clock=rates
    )


NVIDIA_PRODUCTS = (
    Product(r"\bT4\b", "sm_75", 40, 1590, 320e9, "T4 product brief"),
    Product(r"Quadro RTX [68]000", "sm_75", 72, 1770, 672e9, "TU102 whitepaper"),
    Product(
        r"RTX 2080 Ti", "sm_75", 68, 1545, 616e9, "TU102 whitepaper",
        operations_per_clock={"tensor fp16": GEFORCE_OPERATIONS_PER_CLOCK["tensor fp16"]},
    ),
    Product(
        r"A100.*PCIE.*40GB", "sm_80", 108, 1410, 1555e9, "A100 40GB PCIe datasheet", l2_bytes_per_clock=5120,
    ),
    Product(r"A100.*PCIE", "sm_80", 108, 1410, 1935e9, "A100 80GB PCIe datasheet", l2_bytes_per_clock=5120),
    Product(r"A100.*40GB", "sm_80", 108, 1410, 1555e9, "A100 40GB SXM datasheet", l2_bytes_per_clock=5120),
    Product(r"A100", "sm_80", 108, 1410, 2039e9, "A100 80GB SXM datasheet", l2_bytes_per_clock=5120),
    Product(r"A30\b", "sm_80", 56, 1440, 933e9, "A30 datasheet"),
    Product(r"A10\b", "sm_86", 72, 1695, 600e9, "A10 datasheet"),
    Product(r"A40\b", "sm_86", 84, 1740, 696e9, "A40 datasheet"),
    Product(r"RTX A6000", "sm_86", 84, 1800, 768e9, "RTX A6000 datasheet"),
    _geforce(r"RTX 3090 Ti", "sm_86", 84, 1860, 1008e9, "GeForce RTX 3090 Ti"),
    _geforce(r"RTX 3090", "sm_86", 82, 1695, 936e9, "GA102 whitepaper"),
    _geforce(r"RTX 3080(?! Ti)", "sm_86", 68, 1710, 760e9, "GA102 whitepaper"),
    Product(r"L4\b", "sm_89", 58, 2040, 300e9, "L4 datasheet"),
    Product(r"L40S", "sm_89", 142, 2520, 864e9, "L40S datasheet"),
    Product(r"RTX 6000 Ada", "sm_89", 142, 2505, 960e9, "RTX 6000 Ada datasheet"),
    _geforce(r"RTX 4090(?! D| Laptop)", "sm_89", 128, 2520, 1008e9, "AD102 whitepaper"),
    _geforce(r"RTX 4080(?! SUPER| Laptop)", "sm_89", 76, 2505, 717e9, "AD103 whitepaper"),
    Product(r"H100 NVL", "sm_90", 132, 1785, 3938e9, "H100 NVL datasheet", tensor_clock_mhz=1545),
    Product(r"H100 PCIe", "sm_90", 114, 1755, 2039e9, "H100 PCIe datasheet", tensor_clock_mhz=1620),
    Product(r"H100", "sm_90", 132, 1980, 3350e9, "H100 SXM datasheet", tensor_clock_mhz=1830),
    Product(
        r"GH200.*(144|HBM3e)", "sm_90", 132, 1980, 4900e9, "GH200 144GB datasheet", tensor_clock_mhz=1830,
    ),
    Product(r"GH200", "sm_90", 132, 1980, 4000e9, "GH200 96GB datasheet", tensor_clock_mhz=1830),
    Product(r"H200 NVL", "sm_90", 132, 1785, 4800e9, "H200 NVL datasheet", tensor_clock_mhz=1545),
    Product(
        r"H200", "sm_90", 132, 1980, 4800e9, "H200 SXM datasheet", tensor_clock_mhz=1830,
        l2_bytes_per_clock=6016, l2_clock_mhz=1705,
    ),
    Product(r"GB200", "sm_100", 152, 2056, 8000e9, "GB200 NVL72 datasheet", tensor_clock_mhz=2008),
    Product(r"B200", "sm_100", 148, 1965, 8000e9, "HGX B200 datasheet", tensor_clock_mhz=1856),
    _geforce(r"RTX 5090(?! D| Laptop)", "sm_120", 170, 2407, 1792e9, "GB202 whitepaper"),
    Product(r"RTX PRO 6000 Blackwell(?! Max-Q)", "sm_120", 188, 2617, 1792e9, "GB202 whitepaper"),
)  # fmt: skip
