"""What a target is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.model import Resources


class UnknownTarget(ValueError):
    """There is no target of that name."""

    def __init__(self, name: str, targets: Iterable[Target]) -> None:
        known = ", ".join(target.name for target in targets)
        super().__init__(f"Unknown target {name!r}. Known targets: {known}.")


@dataclass(frozen=True)
class Target:
    """A GPU architecture.

    `name` is the address in requests ("cuda:90"), `title` the products that people know it by.
    `backend_module` is the Triton module whose passes are observed, `vendor_namespace` the name by which
    that module calls the vendor's own passes. `binary` is Triton's key for the final binary, and
    `read_resources` reads what the binary needs from the text that says so (`resources_text`: the
    assembler's log or an assembly stage).
    """

    name: str
    title: str
    architecture: str
    vendor: str
    backend: str
    triton_architecture: int | str
    warp_size: int
    stages: tuple[str, ...]
    backend_module: str
    vendor_namespace: str
    binary: str
    read_resources: Callable[[str], Resources]
