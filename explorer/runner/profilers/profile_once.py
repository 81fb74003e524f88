"""Makes one launch that a profiler around this process can distinguish from all other launches."""

from __future__ import annotations

import torch

from explorer.runner.measures.context import Launch


def launch_once(launch: Launch) -> None:
    """Launch once between the profiler's start and stop, after compiling, on the original values."""
    launch.run()
    launch.restore()
    torch.cuda.synchronize()
    runtime = torch.cuda.cudart()
    runtime.cudaProfilerStart()
    launch.run()
    torch.cuda.synchronize()
    runtime.cudaProfilerStop()
