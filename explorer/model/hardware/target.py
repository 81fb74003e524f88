"""The type of a target: a GPU architecture that kernels are compiled for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from explorer.model.hardware.device import Device


@dataclass(frozen=True, slots=True)
class Target:
    """A GPU architecture, with its figures.

    `title` lists well-known products; `device` is the best-known product. `backend` and `triton_architecture`
    are Triton's names.

    `operations_per_clock` has the rate of one multiprocessor for each kind of operation, and
    `on_chip_bytes_per_clock` its rate for each level of memory on the chip. `siblings` are newer
    architectures with the same figures that are not separate targets.
    """

    architecture: str
    title: str
    vendor: str
    backend: str
    triton_architecture: int | str
    device: Device
    operations_per_clock: Mapping[str, int]
    on_chip_bytes_per_clock: Mapping[str, int] = field(default_factory=dict)
    siblings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The address in requests: "cuda:90", "hip:gfx942"."""
        return f"{self.backend}:{self.triton_architecture}"

    def fp32_product(self, precision: str) -> str:
        """Return the kind of the operations of a product of fp32 with an input precision of Triton.

        "ieee" is fp32, "tf32x3" consists of products in tf32, and "bf16x6" of products in bf16. Without
        matrix units for this type, the product is computed in fp32.
        """
        element = next((each for each in ("tf32", "bf16") if precision.lower().startswith(each)), "fp32")
        kind = f"tensor {element}"
        return kind if kind in self.operations_per_clock else "fp32"

    @property
    def warp_size(self) -> int:
        """The number of lanes of a warp."""
        return self.device.multiprocessor.warp_size
