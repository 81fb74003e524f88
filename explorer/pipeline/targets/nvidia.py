"""NVIDIA's tools: ptxas."""

from __future__ import annotations

import re

from explorer.model import Resources
from explorer.pipeline.targets.elf import NotElf, read_elf
from explorer.pipeline.targets.tools import VendorTools

#: The part of each block's shared memory that the system keeps. From sm_90 on, the assembler leaves it free.
_RESERVED_SHARED_BYTES = 1024


def read_ptxas_log(log: str) -> Resources:
    """Read the report of `ptxas -v` for one kernel.

    Source: ptxas of CUDA 12.8 and 13.1, as shipped in Triton 3.6 and 3.9.
    """

    def number(pattern: str) -> int | None:
        found = re.search(pattern, log)
        return int(found.group(1)) if found else None

    return Resources(
        registers=number(r"Used (\d+) registers"),
        barriers=number(r"used (\d+) barriers"),
        stack_bytes=number(r"(\d+) bytes stack frame"),
        spill_stores_bytes=number(r"(\d+) bytes spill stores"),
        spill_loads_bytes=number(r"(\d+) bytes spill loads"),
        static_shared_bytes=number(r"(\d+) bytes smem"),
        constant_bytes=number(r"(\d+) bytes cmem\[0\]"),
    )


def read_cubin_resources(cubin: bytes, listing: str, kernel: str) -> Resources:
    """Read the resources of a kernel from a cubin and its listing by `cuobjdump -res-usage`.

    They do not contain spills, nor the dynamic shared memory, which a launch chooses.

    Source: cuobjdump and ptxas of CUDA 12.8 and 13.1, as shipped in Triton 3.6 and 3.9.
    """
    found = re.search(
        rf"^ Function {re.escape(kernel)}:\n\s*REG:(\d+) STACK:(\d+) [^\n]*CONSTANT\[0\]:(\d+)",
        listing,
        re.MULTILINE,
    )
    if found is None:
        return Resources()
    registers, stack, constant = map(int, found.groups())
    shared = _static_shared_bytes(cubin, kernel)
    return Resources(
        registers=registers, stack_bytes=stack, static_shared_bytes=shared, constant_bytes=constant
    )


def _static_shared_bytes(cubin: bytes, kernel: str) -> int | None:
    """Return the size of the static shared memory; None if the cubin is damaged.

    The section begins with the bytes that the system keeps for each block, if another section says so.
    """
    try:
        sections = {each.name: each.memory_bytes for each in read_elf(cubin).sections}
    except NotElf:
        return None
    reserved = _RESERVED_SHARED_BYTES if ".nv.shared.reserved.0" in sections else 0
    return max(sections.get(f".nv.shared.{kernel}", 0) - reserved, 0)


NVIDIA_TOOLS = VendorTools("cubin", read_ptxas_log, "nvidia")
