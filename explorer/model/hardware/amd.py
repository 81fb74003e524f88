"""AMD GPUs, by gfx architecture. For RDNA, work-group processors are counted: two compute units each.

Source of the resources of a multiprocessor: LLVM's AMDGPU back end (its user guide). Source of rates: the
products' datasheets and whitepapers; banks: CDNA 3 and 4 ISA documents, LDS. Rates are dense; a multiply-add
counts as two.
"""

from __future__ import annotations

from collections.abc import Mapping

from explorer.model.hardware.device import GIB, KIB, MIB, Device, Multiprocessor
from explorer.model.hardware.product import Product
from explorer.model.hardware.target import Target


def _compute_unit(shared_kib: int, shared_granule_bytes: int, banks: int) -> Multiprocessor:
    """Describe a compute unit of CDNA 3 and 4.

    A wave shares 512 registers a lane between vectors and accumulation. A work-group of one wave needs no
    barrier, and so does not occupy a slot for work-groups.
    """
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
        banks=banks,
        one_warp_blocks=32,
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
    one_warp_blocks=64,
)


def _target(
    architecture: str,
    title: str,
    device: Device,
    operations_per_clock: Mapping[str, int],
    on_chip_bytes_per_clock: Mapping[str, int],
) -> Target:
    return Target(
        architecture=architecture,
        title=title,
        vendor="AMD",
        backend="hip",
        triton_architecture=architecture,
        device=device,
        operations_per_clock=operations_per_clock,
        on_chip_bytes_per_clock=on_chip_bytes_per_clock,
    )


AMD_TARGETS = (
    _target("gfx942", "MI300X, MI325X", Device(
        "AMD Instinct MI300X", (9, 4), 304, 192 * GIB, 4 * MIB, 2100000, 1300000, 8192,
        _compute_unit(shared_kib=64, shared_granule_bytes=512, banks=32), "gfx942:sramecc+:xnack-",
    ), {
        "fp32": 256, "fp64": 128, "tensor fp64": 256, "tensor fp32": 256, "tensor tf32": 1024,
        "tensor fp16": 2048, "tensor bf16": 2048, "tensor fp8": 4096, "tensor int8": 4096,
    }, {"shared": 128}),
    _target("gfx950", "MI350X, MI355X", Device(
        "AMD Instinct MI355X", (9, 5), 256, 288 * GIB, 4 * MIB, 2400000, 2000000, 8192,
        _compute_unit(shared_kib=160, shared_granule_bytes=1280, banks=64), "gfx950:sramecc+:xnack-",
    ), {
        "fp32": 256, "fp64": 128, "tensor fp64": 128, "tensor fp32": 256, "tensor fp16": 4096,
        "tensor bf16": 4096, "tensor fp8": 8192, "tensor int8": 8192, "tensor fp4": 16384,
    }, {"shared": 128}),
    _target("gfx1100", "RX 7900, W7900", Device(
        "AMD Radeon RX 7900 XTX", (11, 0), 48, 24 * GIB, 6 * MIB, 2482000, 1249000, 384,
        _WORK_GROUP_PROCESSOR, "gfx1100",
    ), {
        "fp32": 512, "fp16": 1024, "tensor fp16": 1024, "tensor bf16": 1024, "tensor int8": 1024,
    }, {}),
)  # fmt: skip

AMD_PRODUCTS = (
    Product(r"MI300X", "gfx942", 304, 2100, 5300e9, "MI300X datasheet", l2_bytes_per_clock=16384),
    Product(r"MI325X", "gfx942", 304, 2100, 6000e9, "MI325X datasheet", l2_bytes_per_clock=16384),
    Product(r"MI350X", "gfx950", 256, 2200, 8000e9, "MI350X datasheet"),
    Product(r"MI355X", "gfx950", 256, 2400, 8000e9, "MI355X datasheet"),
    Product(r"RX 7900 XTX", "gfx1100", 48, 2500, 960e9, "Radeon RX 7900 XTX datasheet"),
)  # fmt: skip
