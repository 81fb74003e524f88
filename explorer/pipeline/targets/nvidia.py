"""NVIDIA GPUs, by compute capability."""

from __future__ import annotations

import re

from explorer.model import Resources
from explorer.pipeline.targets.target import Target


def read_ptxas_log(log: str) -> Resources:
    """Read `ptxas -v`'s report of one kernel.

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


def _target(capability: int, title: str) -> Target:
    return Target(
        name=f"cuda:{capability}",
        title=title,
        architecture=f"sm_{capability}",
        vendor="NVIDIA",
        backend="cuda",
        triton_architecture=capability,
        warp_size=32,
        stages=("ast", "ttir", "ttgir", "llir", "ptx", "sass"),
        backend_module="triton.backends.nvidia.compiler",
        vendor_namespace="nvidia",
        binary="cubin",
        read_resources=read_ptxas_log,
    )


NVIDIA_TARGETS = (
    _target(80, "A100"),
    _target(86, "RTX 30, A10, A40"),
    _target(89, "RTX 40, L4, L40S"),
    _target(90, "H100, H200, GH200"),
    _target(100, "B200, GB200"),
    _target(120, "RTX 50, RTX PRO 6000"),
)
