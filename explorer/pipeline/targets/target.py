"""What a target is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.pipeline.stages import STAGES
from explorer.pipeline.targets.device import Device

if TYPE_CHECKING:
    from triton.backends.compiler import GPUTarget

    from explorer.model import Resources


class UnknownTarget(ValueError):
    """There is no target of that name."""

    def __init__(self, name: str, targets: Iterable[Target]) -> None:
        known = ", ".join(target.name for target in targets)
        super().__init__(f"Unknown target {name!r}. Known targets: {known}.")


@dataclass(frozen=True)
class Target:
    """A GPU architecture.

    `title` is the products that people know it by, `device` one of them, with its figures. `backend` and
    `triton_architecture` are Triton's names. `binary` is Triton's key for the final binary;
    `read_resources` reads what that needs from the assembler's log, or from the assembly where there is no
    assembler of its own.
    """

    title: str
    architecture: str
    vendor: str
    backend: str
    triton_architecture: int | str
    binary: str
    read_resources: Callable[[str], Resources]
    device: Device

    @property
    def name(self) -> str:
        """The address in requests: "cuda:90", "hip:gfx942"."""
        return f"{self.backend}:{self.triton_architecture}"

    @property
    def warp_size(self) -> int:
        """How many lanes a warp has."""
        return self.device.multiprocessor.warp_size

    @property
    def stages(self) -> tuple[str, ...]:
        """The names of the stages on the way to it, in order."""
        return tuple(kind.name for kind in STAGES if self.backend in kind.backends)

    @property
    def passes_namespace(self) -> str:
        """Triton's name of the vendor: that of its backend, and of its passes in there."""
        return self.vendor.lower()

    def for_triton(self) -> GPUTarget:
        """The target as Triton names it; imports Triton."""
        from triton.backends.compiler import GPUTarget

        return GPUTarget(self.backend, self.triton_architecture, self.warp_size)
