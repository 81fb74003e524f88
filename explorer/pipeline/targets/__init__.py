"""The GPUs that kernels are compiled for: one file a vendor, with all figures of its GPUs.

Importing this package needs neither triton nor torch, so that the web side can list the targets.
"""

from __future__ import annotations

from explorer.pipeline.targets.amd import AMD_TARGETS
from explorer.pipeline.targets.device import Device, Multiprocessor
from explorer.pipeline.targets.nvidia import NVIDIA_TARGETS
from explorer.pipeline.targets.target import Target, UnknownTarget

__all__ = ["TARGETS", "Device", "Multiprocessor", "Target", "UnknownTarget", "find_target"]

TARGETS: tuple[Target, ...] = NVIDIA_TARGETS + AMD_TARGETS


def find_target(name: str) -> Target:
    """Return the target called `name` ("cuda:90", or the architecture alone: "sm_90", "gfx942").

    Raises:
        UnknownTarget: no target has that name; the message lists those that exist.
    """
    for target in TARGETS:
        if name in (target.name, target.architecture):
            return target
    raise UnknownTarget(name, TARGETS)
