"""NVIDIA's tools: ptxas."""

from __future__ import annotations

import re

from explorer.model import Resources
from explorer.pipeline.targets.tools import VendorTools


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
        constant_bytes=number(r"(\d+) bytes cmem\[0\]"),
    )


def read_resource_usage(listing: str, kernel: str) -> Resources:
    """Read what `cuobjdump -res-usage` lists of a kernel of a cubin. It does not know what was spilled.

    Its shared memory is not that of a launch, which adds the dynamic one, and is left out.

    Source: cuobjdump of CUDA 12.8 and 13.1, as shipped in Triton 3.6 and 3.9.
    """
    found = re.search(
        rf"^ Function {re.escape(kernel)}:\n\s*REG:(\d+) STACK:(\d+) [^\n]*CONSTANT\[0\]:(\d+)",
        listing,
        re.MULTILINE,
    )
    if found is None:
        return Resources()
    return Resources(registers=int(found[1]), stack_bytes=int(found[2]), constant_bytes=int(found[3]))


NVIDIA_TOOLS = VendorTools("cubin", read_ptxas_log, "nvidia")
