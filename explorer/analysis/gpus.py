"""What GPUs can do at most: our own table of datasheet figures, and the limits that follow from them.

In: the environment of a run. Out: its ceilings: bytes a second of each memory level, operations a second
of each kind of operation, each with the clock it holds for and where it is from.

A rate of operations is operations a clock of a multiprocessor × multiprocessors × clock, dense, where a
multiply-add counts as two. `_PER_CLOCK` has what an architecture does a clock, `GPUS` what each product has
of it. A GPU that is not in the table is taken by what its driver says of it.

Source: the products' datasheets and whitepapers by NVIDIA and AMD; throughput a clock: CUDA programming
guide, "Arithmetic instructions", and the whitepapers; checked against Nsight Compute's peaks of an H200.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from explorer.analysis.roofline.documents import Ceiling
from explorer.measurements import Environment
from explorer.pipeline.targets import Target

#: Operations a clock of a multiprocessor, by architecture; a work-group processor on RDNA.
_PER_CLOCK: dict[str, dict[str, int]] = {
    "sm_80": {
        "fp32": 128, "fp16": 512, "bf16": 256, "fp64": 64, "special": 16, "tensor fp64": 128,
        "tensor tf32": 1024, "tensor fp16": 2048, "tensor bf16": 2048, "tensor int8": 4096,
    },
    "sm_86": {
        "fp32": 256, "fp16": 256, "bf16": 256, "fp64": 4, "special": 16,
        "tensor tf32": 512, "tensor fp16": 1024, "tensor bf16": 1024, "tensor int8": 2048,
    },
    "sm_89": {
        "fp32": 256, "fp16": 256, "bf16": 256, "fp64": 4, "special": 16,
        "tensor tf32": 512, "tensor fp16": 1024, "tensor bf16": 1024, "tensor fp8": 2048,
        "tensor int8": 2048,
    },
    "sm_90": {
        "fp32": 256, "fp16": 512, "bf16": 512, "fp64": 128, "special": 16, "tensor fp64": 256,
        "tensor tf32": 2048, "tensor fp16": 4096, "tensor bf16": 4096, "tensor fp8": 8192,
        "tensor int8": 8192,
    },
    "sm_100": {
        "fp32": 256, "fp16": 512, "bf16": 512, "fp64": 128, "special": 16, "tensor fp64": 128,
        "tensor tf32": 4096, "tensor fp16": 8192, "tensor bf16": 8192, "tensor fp8": 16384,
        "tensor int8": 16384, "tensor fp4": 32768,
    },
    "sm_120": {
        "fp32": 256, "fp16": 256, "bf16": 256, "fp64": 4, "special": 16,
        "tensor tf32": 512, "tensor fp16": 1024, "tensor bf16": 1024, "tensor fp8": 2048,
        "tensor int8": 2048,
        "tensor fp4": 4096,
    },
    "gfx942": {
        "fp32": 256, "fp64": 128, "tensor fp64": 256, "tensor fp32": 256,
        "tensor tf32": 1024, "tensor fp16": 2048, "tensor bf16": 2048, "tensor fp8": 4096,
        "tensor int8": 4096,
    },
    "gfx950": {
        "fp32": 256, "fp64": 128, "tensor fp64": 128, "tensor fp32": 256,
        "tensor fp16": 4096, "tensor bf16": 4096, "tensor fp8": 8192,
        "tensor int8": 8192, "tensor fp4": 16384,
    },
    "gfx1100": {"fp32": 512, "fp16": 1024, "tensor fp16": 1024, "tensor bf16": 1024, "tensor int8": 1024},
}  # fmt: skip
#: GeForce cards multiply matrices at half the rate where the sum is kept in fp32, as Triton keeps it.
_GEFORCE = {"tensor tf32": 256, "tensor fp16": 512, "tensor bf16": 512, "tensor fp8": 1024}

#: Bytes a clock of a multiprocessor: 32 banks of 4 bytes, and the L1 cache that is made of the same memory.
_NVIDIA_ON_CHIP = {"shared": 128, "l1": 128}
_ON_CHIP_BYTES_PER_CLOCK = {
    **{name: _NVIDIA_ON_CHIP for name in _PER_CLOCK if name.startswith("sm_")},
    "gfx942": {"shared": 128},
    "gfx950": {"shared": 128},
}
#: The architecture whose figures a younger sibling shares.
_SIBLINGS = {"sm_87": "sm_86", "sm_101": "sm_100", "sm_103": "sm_100", "sm_121": "sm_120"}
_MEMORY_TITLES = {"dram": "DRAM", "l2": "L2", "l1": "L1", "shared": "Shared memory"}
#: What no GPU exceeds by far; who reports more has not measured it.
_MOST_MULTIPROCESSORS = 4096
_MOST_MEGAHERTZ = 100_000.0
_MOST_BUS_BITS = 65_536


@dataclass(frozen=True)
class Gpu:
    """The figures of a product.

    `pattern` finds it in the name that its driver reports. `clock_mhz` is the boost clock behind the vendor's
    figures, `tensor_clock_mhz` that behind those of its matrix units where it is another one.
    `l2_bytes_per_clock` is what the L2 hands out at `l2_clock_mhz`; None: nobody says. `per_clock` is where
    the product differs from its architecture. `title` is where the figures are from.
    """

    pattern: str
    architecture: str
    multiprocessors: int
    clock_mhz: float
    dram_bytes_per_second: float
    title: str
    tensor_clock_mhz: float | None = None
    l2_bytes_per_clock: int | None = None
    l2_clock_mhz: float | None = None
    per_clock: Mapping[str, int] = field(default_factory=dict)


#: The first whose pattern is found counts: more particular names stand before others.
GPUS: tuple[Gpu, ...] = (
    Gpu(r"A100.*PCIE.*40GB", "sm_80", 108, 1410, 1555e9, "A100 40GB PCIe datasheet", l2_bytes_per_clock=5120),
    Gpu(r"A100.*PCIE", "sm_80", 108, 1410, 1935e9, "A100 80GB PCIe datasheet", l2_bytes_per_clock=5120),
    Gpu(r"A100.*40GB", "sm_80", 108, 1410, 1555e9, "A100 40GB SXM datasheet", l2_bytes_per_clock=5120),
    Gpu(r"A100", "sm_80", 108, 1410, 2039e9, "A100 80GB SXM datasheet", l2_bytes_per_clock=5120),
    Gpu(r"A30\b", "sm_80", 56, 1440, 933e9, "A30 datasheet"),
    Gpu(r"A10\b", "sm_86", 72, 1695, 600e9, "A10 datasheet"),
    Gpu(r"A40\b", "sm_86", 84, 1740, 696e9, "A40 datasheet"),
    Gpu(r"RTX A6000", "sm_86", 84, 1800, 768e9, "RTX A6000 datasheet"),
    Gpu(r"RTX 3090 Ti", "sm_86", 84, 1860, 1008e9, "GeForce RTX 3090 Ti", per_clock=_GEFORCE),
    Gpu(r"RTX 3090", "sm_86", 82, 1695, 936e9, "GA102 whitepaper", per_clock=_GEFORCE),
    Gpu(r"RTX 3080(?! Ti)", "sm_86", 68, 1710, 760e9, "GA102 whitepaper", per_clock=_GEFORCE),
    Gpu(r"L4\b", "sm_89", 58, 2040, 300e9, "L4 datasheet"),
    Gpu(r"L40S", "sm_89", 142, 2520, 864e9, "L40S datasheet"),
    Gpu(r"RTX 6000 Ada", "sm_89", 142, 2505, 960e9, "RTX 6000 Ada datasheet"),
    Gpu(r"RTX 4090(?! D| Laptop)", "sm_89", 128, 2520, 1008e9, "AD102 whitepaper", per_clock=_GEFORCE),
    Gpu(r"RTX 4080(?! SUPER| Laptop)", "sm_89", 76, 2505, 717e9, "AD103 whitepaper", per_clock=_GEFORCE),
    Gpu(r"H100 NVL", "sm_90", 132, 1785, 3938e9, "H100 NVL datasheet", tensor_clock_mhz=1545),
    Gpu(r"H100 PCIe", "sm_90", 114, 1755, 2039e9, "H100 PCIe datasheet", tensor_clock_mhz=1620),
    Gpu(r"H100", "sm_90", 132, 1980, 3350e9, "H100 SXM datasheet", tensor_clock_mhz=1830),
    Gpu(r"GH200.*(144|HBM3e)", "sm_90", 132, 1980, 4900e9, "GH200 144GB datasheet", tensor_clock_mhz=1830),
    Gpu(r"GH200", "sm_90", 132, 1980, 4000e9, "GH200 96GB datasheet", tensor_clock_mhz=1830),
    Gpu(r"H200 NVL", "sm_90", 132, 1785, 4800e9, "H200 NVL datasheet", tensor_clock_mhz=1545),
    Gpu(
        r"H200", "sm_90", 132, 1980, 4800e9, "H200 SXM datasheet", tensor_clock_mhz=1830,
        l2_bytes_per_clock=6016, l2_clock_mhz=1705,
    ),
    Gpu(r"GB200", "sm_100", 152, 2056, 8000e9, "GB200 NVL72 datasheet", tensor_clock_mhz=2008),
    Gpu(r"B200", "sm_100", 148, 1965, 8000e9, "HGX B200 datasheet", tensor_clock_mhz=1856),
    Gpu(r"RTX 5090(?! D| Laptop)", "sm_120", 170, 2407, 1792e9, "GB202 whitepaper", per_clock=_GEFORCE),
    Gpu(r"RTX PRO 6000 Blackwell(?! Max-Q)", "sm_120", 188, 2617, 1792e9, "GB202 whitepaper"),
    Gpu(r"MI300X", "gfx942", 304, 2100, 5300e9, "MI300X datasheet", l2_bytes_per_clock=16384),
    Gpu(r"MI325X", "gfx942", 304, 2100, 6000e9, "MI325X datasheet", l2_bytes_per_clock=16384),
    Gpu(r"MI350X", "gfx950", 256, 2200, 8000e9, "MI350X datasheet"),
    Gpu(r"MI355X", "gfx950", 256, 2400, 8000e9, "MI355X datasheet"),
    Gpu(r"RX 7900 XTX", "gfx1100", 48, 2500, 960e9, "Radeon RX 7900 XTX datasheet"),
)  # fmt: skip


@dataclass(frozen=True)
class Hardware:
    """A GPU that something runs on, and its ceilings by the datasheet. `problem` says what is not known."""

    name: str
    architecture: str
    multiprocessors: int
    clock_mhz: float
    tensor_clock_mhz: float
    ceilings: tuple[Ceiling, ...]
    problem: str = ""


def find_gpu(name: str) -> Gpu | None:
    """The product whose driver reports that name; None: it is not in the table."""
    return next((gpu for gpu in GPUS if re.search(gpu.pattern, name, re.IGNORECASE)), None)


def hardware(environment: Environment | None, target: Target) -> Hardware:
    """The GPU of a run; without one, the best-known GPU of the target that the kernel was compiled for."""
    if environment is None or not environment.gpu:
        return _of_target(target)
    gpu = find_gpu(environment.gpu)
    count = environment.multiprocessors
    if not 0 < count <= _MOST_MULTIPROCESSORS:
        count = gpu.multiprocessors if gpu else 0
    return _known(environment.gpu, gpu, count) if gpu else _unknown(environment, count)


def memory_title(level: str) -> str:
    """The name of a memory level as people write it."""
    return _MEMORY_TITLES.get(level, level)


def _of_target(target: Target) -> Hardware:
    device = target.device
    gpu = find_gpu(device.name)
    assert gpu is not None, "the best-known GPU of every target is in the table"
    return _known(device.name, gpu, device.multiprocessors)


def _known(name: str, gpu: Gpu, multiprocessors: int) -> Hardware:
    tensor_clock = gpu.tensor_clock_mhz or gpu.clock_mhz
    ceilings = [
        Ceiling("dram", _MEMORY_TITLES["dram"], "memory", gpu.dram_bytes_per_second, "datasheet", gpu.title)
    ]
    if gpu.l2_bytes_per_clock:
        clock = gpu.l2_clock_mhz or gpu.clock_mhz
        ceilings.append(_memory("l2", gpu.l2_bytes_per_clock, 1, clock, ""))
    ceilings += _on_chip(gpu.architecture, multiprocessors, gpu.clock_mhz)
    rates = {**_PER_CLOCK[gpu.architecture], **gpu.per_clock}
    ceilings += _compute(rates, multiprocessors, gpu.clock_mhz, tensor_clock, f", {gpu.title}")
    return Hardware(
        name, gpu.architecture, multiprocessors, gpu.clock_mhz, tensor_clock, tuple(ceilings),
        _differing(gpu, multiprocessors),
    )  # fmt: skip


def _differing(gpu: Gpu, multiprocessors: int) -> str:
    if multiprocessors == gpu.multiprocessors:
        return ""
    return (
        f"The driver reports {multiprocessors} multiprocessors, the {gpu.title} {gpu.multiprocessors}: the "
        "bandwidths are those of the whole GPU."
    )


def _unknown(environment: Environment, multiprocessors: int) -> Hardware:
    """A GPU that the table does not have, by what its driver says."""
    architecture = _architecture(environment.capability)
    clock = environment.sm_clock_mhz if 1 <= environment.sm_clock_mhz <= _MOST_MEGAHERTZ else 0.0
    memory_clock = (
        environment.memory_clock_mhz if 1 <= environment.memory_clock_mhz <= _MOST_MEGAHERTZ else 0.0
    )
    bus = environment.memory_bus_bits if 0 < environment.memory_bus_bits <= _MOST_BUS_BITS else 0
    ceilings = []
    if bus and memory_clock:
        ceilings.append(
            Ceiling(
                "dram", _MEMORY_TITLES["dram"], "memory", bus / 8 * 2 * memory_clock * 1e6, "datasheet",
                f"{bus} bits × {memory_clock:,.0f} MHz × 2, as the driver reports", memory_clock,
            )
        )  # fmt: skip
    if architecture and clock and multiprocessors:
        rates = dict(_PER_CLOCK[architecture])
        if "GeForce" in environment.gpu:
            rates.update({name: rate for name, rate in _GEFORCE.items() if name in rates})
        ceilings += _on_chip(architecture, multiprocessors, clock)
        ceilings += _compute(rates, multiprocessors, clock, clock, ", clock as the driver reports")
    return Hardware(
        environment.gpu, architecture, multiprocessors, clock, clock, tuple(ceilings),
        f"{environment.gpu[:80]} is not in the table of GPUs: its limits are worked out from what the driver "
        "reports.",
    )  # fmt: skip


def _architecture(capability: str) -> str:
    """Name the architecture: "9.0", "90" and "sm_90" are all sm_90; "" where nothing is known of it."""
    digits = re.sub(r"^sm_|\.", "", capability.strip())
    name = digits if digits.startswith("gfx") else f"sm_{digits}"
    name = _SIBLINGS.get(name, name)
    return name if name in _PER_CLOCK else ""


def _on_chip(architecture: str, multiprocessors: int, clock_mhz: float) -> list[Ceiling]:
    return [
        _memory(level, each, multiprocessors, clock_mhz, "")
        for level, each in _ON_CHIP_BYTES_PER_CLOCK.get(architecture, {}).items()
    ]


def _memory(level: str, each: int, count: int, clock_mhz: float, more: str) -> Ceiling:
    places = f" × {count} multiprocessors" if count > 1 else ""
    return Ceiling(
        level, _MEMORY_TITLES[level], "memory", each * count * clock_mhz * 1e6, "datasheet",
        f"{each:,} bytes a clock{places} × {clock_mhz:,.0f} MHz{more}", float(clock_mhz),
    )  # fmt: skip


def _compute(
    rates: Mapping[str, int], count: int, clock_mhz: float, tensor_clock_mhz: float, more: str
) -> list[Ceiling]:
    found = []
    for name, each in rates.items():
        clock = tensor_clock_mhz if name.startswith("tensor") else clock_mhz
        found.append(
            Ceiling(
                name, name, "compute", each * count * clock * 1e6, "datasheet",
                f"{each:,} a clock × {count} multiprocessors × {clock:,.0f} MHz{more}", float(clock),
            )
        )  # fmt: skip
    return found
