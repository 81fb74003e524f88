"""The tools that make a binary for a target: one file for each vendor.

The figures of their GPUs are in `explorer.model.hardware`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.model.hardware import Target
from explorer.pipeline.targets.amd import AMD_TOOLS
from explorer.pipeline.targets.nvidia import NVIDIA_TOOLS
from explorer.pipeline.targets.tools import VendorTools

if TYPE_CHECKING:
    from triton.backends.compiler import GPUTarget

__all__ = ["VendorTools", "tools_of", "triton_target"]

_TOOLS: dict[str, VendorTools] = {"cuda": NVIDIA_TOOLS, "hip": AMD_TOOLS}


def tools_of(target: Target) -> VendorTools:
    """Return the tools that make a binary for `target`."""
    return _TOOLS[target.backend]


def triton_target(target: Target) -> GPUTarget:
    """Return the target as Triton names it; imports Triton."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget(target.backend, target.triton_architecture, target.warp_size)
