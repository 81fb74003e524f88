"""The ceilings of a GPU, computed from the figures of `explorer.model.hardware`.

In: the environment of a run. Out: its ceilings: bytes per second of each memory level and operations per
second of each kind of operation, each with the clock that it holds for and its source.

A rate of operations is the operations per clock of one multiprocessor × multiprocessors × clock. A GPU whose
datasheet is not in the table is described by what its driver reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.analysis.roofline.documents import Ceiling
from explorer.model.hardware import (
    GEFORCE_OPERATIONS_PER_CLOCK,
    Product,
    Target,
    find_product,
    find_target,
    find_target_by_capability,
)
from explorer.model.measurements import Environment

_MEMORY_TITLES = {"dram": "DRAM", "l2": "L2", "l1": "L1", "shared": "Shared memory"}
#: Bounds that no GPU comes near: a document beyond them was not measured.
_MOST_MULTIPROCESSORS = 4096
_MOST_MEGAHERTZ = 100_000.0
_MOST_BUS_BITS = 65_536


@dataclass(frozen=True)
class Hardware:
    """A GPU with its ceilings by the datasheet. `problem` names the unknown values."""

    name: str
    architecture: str
    multiprocessors: int
    clock_mhz: float
    tensor_clock_mhz: float
    ceilings: tuple[Ceiling, ...]
    problem: str = ""


def hardware(environment: Environment | None, target: Target) -> Hardware:
    """Return the GPU of a run; without one, the best-known GPU of the target of the kernel."""
    if environment is None or not environment.gpu:
        return _of_target(target)
    gpu = find_product(environment.gpu)
    count = environment.multiprocessors
    if not 0 < count <= _MOST_MULTIPROCESSORS:
        count = gpu.multiprocessors if gpu else 0
    return _known(environment.gpu, gpu, count) if gpu else _unknown(environment, count)


def memory_title(level: str) -> str:
    return _MEMORY_TITLES.get(level, level)


def _of_target(target: Target) -> Hardware:
    device = target.device
    gpu = find_product(device.name)
    assert gpu is not None, "the best-known GPU of every target is in the table"
    return _known(device.name, gpu, device.multiprocessors)


def _known(name: str, gpu: Product, multiprocessors: int) -> Hardware:
    tensor_clock = gpu.tensor_clock_mhz or gpu.clock_mhz
    ceilings = [
        Ceiling("dram", _MEMORY_TITLES["dram"], "memory", gpu.dram_bytes_per_second, "datasheet", gpu.title)
    ]
    if gpu.l2_bytes_per_clock:
        clock = gpu.l2_clock_mhz or gpu.clock_mhz
        ceilings.append(_memory("l2", gpu.l2_bytes_per_clock, 1, clock, ""))
    target = find_target(gpu.architecture)
    ceilings += _on_chip(target, multiprocessors, gpu.clock_mhz)
    rates = {**target.operations_per_clock, **gpu.operations_per_clock}
    ceilings += _compute(rates, multiprocessors, gpu.clock_mhz, tensor_clock, f", {gpu.title}")
    return Hardware(
        name, gpu.architecture, multiprocessors, gpu.clock_mhz, tensor_clock, tuple(ceilings),
        _differing(gpu, multiprocessors),
    )  # fmt: skip


def _differing(gpu: Product, multiprocessors: int) -> str:
    if multiprocessors == gpu.multiprocessors:
        return ""
    return (
        f"The driver reports {multiprocessors} multiprocessors, the {gpu.title} {gpu.multiprocessors}: the "
        "bandwidths apply to the whole GPU."
    )


def _unknown(environment: Environment, multiprocessors: int) -> Hardware:
    """Describe a GPU that is not in the table by what its driver reports."""
    target = find_target_by_capability(environment.capability)
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
    if target and clock and multiprocessors:
        rates = dict(target.operations_per_clock)
        if "GeForce" in environment.gpu:
            halved = GEFORCE_OPERATIONS_PER_CLOCK.items()
            rates.update({name: rate for name, rate in halved if name in rates})
        ceilings += _on_chip(target, multiprocessors, clock)
        ceilings += _compute(rates, multiprocessors, clock, clock, ", clock as the driver reports")
    return Hardware(
        environment.gpu, target.architecture if target else "", multiprocessors, clock, clock,
        tuple(ceilings),
        f"{environment.gpu[:80]} is not in the table of GPUs: its limits are worked out from what the driver "
        "reports.",
    )  # fmt: skip


def _on_chip(target: Target, multiprocessors: int, clock_mhz: float) -> list[Ceiling]:
    return [
        _memory(level, each, multiprocessors, clock_mhz, "")
        for level, each in target.on_chip_bytes_per_clock.items()
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
