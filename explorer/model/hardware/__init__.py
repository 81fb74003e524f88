"""The figures of GPUs: the targets that kernels are compiled for, and the products with their datasheets.

Each vendor has a file with its architectures and products. The vendor's tools are in
`explorer.pipeline.targets`, computations with the figures in `explorer.analysis`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from explorer.model.hardware.amd import AMD_PRODUCTS, AMD_TARGETS
from explorer.model.hardware.device import (
    BANK_BYTES,
    BANKS,
    GIB,
    KIB,
    LANE_ACCESS_BYTES,
    PROGRAMS_PER_LAUNCH,
    REGISTER_BITS,
    SECTOR_BYTES,
    THREADS_PER_BLOCK,
    Device,
    Multiprocessor,
)
from explorer.model.hardware.nvidia import GEFORCE_OPERATIONS_PER_CLOCK, NVIDIA_PRODUCTS, NVIDIA_TARGETS
from explorer.model.hardware.product import Product
from explorer.model.hardware.target import Target
from explorer.model.hardware.tensor_memory import (
    TENSOR_MEMORY_CELL_BITS,
    TENSOR_MEMORY_COLUMNS,
    TENSOR_MEMORY_ROWS,
)

__all__ = [
    "BANKS",
    "BANK_BYTES",
    "DEFAULT_TARGET",
    "GEFORCE_OPERATIONS_PER_CLOCK",
    "GIB",
    "KIB",
    "LANE_ACCESS_BYTES",
    "PRODUCTS",
    "PROGRAMS_PER_LAUNCH",
    "REGISTER_BITS",
    "SECTOR_BYTES",
    "TARGETS",
    "TENSOR_MEMORY_CELL_BITS",
    "TENSOR_MEMORY_COLUMNS",
    "TENSOR_MEMORY_ROWS",
    "THREADS_PER_BLOCK",
    "Device",
    "Multiprocessor",
    "Product",
    "Target",
    "UnknownTarget",
    "find_product",
    "find_target",
    "find_target_by_capability",
]

#: In the order of the page.
TARGETS: tuple[Target, ...] = NVIDIA_TARGETS + AMD_TARGETS
#: The first product whose pattern matches is taken: more specific names come first.
PRODUCTS: tuple[Product, ...] = NVIDIA_PRODUCTS + AMD_PRODUCTS

#: The target of a request without a target.
DEFAULT_TARGET = "cuda:90"


class UnknownTarget(ValueError):
    """No target has that name."""

    def __init__(self, name: str, targets: Iterable[Target]) -> None:
        known = ", ".join(target.name for target in targets)
        super().__init__(f"Unknown target {name!r}. Known targets: {known}.")


def find_target(name: str) -> Target:
    """Return the target called `name` ("cuda:90", or the architecture alone: "sm_90", "gfx942").

    Raises:
        UnknownTarget: no target has that name; the message lists the targets.
    """
    for target in TARGETS:
        if name in (target.name, target.architecture):
            return target
    raise UnknownTarget(name, TARGETS)


def find_target_by_capability(capability: str) -> Target | None:
    """Return the target whose figures hold for a GPU of that compute capability; None if there is none.

    "9.0", "90" and "sm_90" are the same. A sibling of an architecture has that architecture's target.
    """
    digits = re.sub(r"^sm_|\.", "", capability.strip())
    name = digits if digits.startswith("gfx") else f"sm_{digits}"
    return next((target for target in TARGETS if name in (target.architecture, *target.siblings)), None)


def find_product(name: str) -> Product | None:
    """Return the product whose driver reports `name`; None if its figures are not known."""
    return next((product for product in PRODUCTS if re.search(product.pattern, name, re.IGNORECASE)), None)
