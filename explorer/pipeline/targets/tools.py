"""The type of a vendor's tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.model import Resources


@dataclass(frozen=True)
class VendorTools:
    """The steps to a binary that differ between the vendors.

    `binary` is Triton's key for the final binary. `read_resources` reads the resources of the binary from the
    assembler's log, or from the assembly if the compiler has no separate assembler. `passes_namespace` is the
    module of the vendor's passes in Triton's bindings.
    """

    binary: str
    read_resources: Callable[[str], Resources]
    passes_namespace: str
