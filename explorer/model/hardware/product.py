"""The type of the datasheet figures of a product."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Product:
    """The figures of a product, as its datasheet has them.

    `pattern` is a regular expression that finds the product in the name that its driver reports. `clock_mhz`
    is the boost clock behind the vendor's figures; `tensor_clock_mhz` is the clock behind the figures of the
    matrix units, if it differs. `l2_bytes_per_clock` is the rate of the L2 at `l2_clock_mhz`; None: not
    published. `operations_per_clock` is where the product differs from its architecture. `title` names the
    source of the figures.
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
    operations_per_clock: Mapping[str, int] = field(default_factory=dict)
