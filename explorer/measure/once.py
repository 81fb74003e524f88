"""Make one launch that a profiler around this process can tell from all else that the process does."""

from __future__ import annotations

import torch

from explorer.measure.bench import Launch


def launch_once(launch: Launch) -> None:
    """Launch once between the profiler's start and its stop, compiled before, on the first values again."""
    launch.run()
    launch.restore()
    torch.cuda.synchronize()
    runtime = torch.cuda.cudart()
    runtime.cudaProfilerStart()
    launch.run()
    torch.cuda.synchronize()
    runtime.cudaProfilerStop()
