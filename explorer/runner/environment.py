"""Describes the device that a kernel runs on."""

from __future__ import annotations

import platform

import torch
import triton

from explorer.model import Run
from explorer.model.measurements import Environment
from explorer.runner import gpu
from explorer.runner.measures.context import Launch


def describe_environment(run: Run, launch: Launch) -> Environment:
    """Describe the GPU, or the interpreter."""
    if run.device == "gpu":
        return gpu.environment((), launch.compiled)
    return Environment(
        gpu="",
        capability="",
        multiprocessors=0,
        memory_bytes=0,
        l2_bytes=0,
        sm_clock_mhz=0.0,
        memory_clock_mhz=0.0,
        memory_bus_bits=0,
        driver="",
        triton=triton.__version__,
        torch=torch.__version__,
        python=platform.python_version(),
    )
