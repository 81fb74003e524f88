"""The type of what a vendor's tools do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.model import Resources


@dataclass(frozen=True)
class VendorTools:
    """What differs between the vendors on the way to a binary.

    `binary` is Triton's key for the final binary. `read_resources` reads what the binary needs from the
    assembler's log, or from the assembly where the compiler has no separate assembler. `passes_namespace` is
    the module of the vendor's passes in Triton's bindings.
    """

    binary: str
    read_resources: Callable[[str], Resources]
    passes_namespace: str
