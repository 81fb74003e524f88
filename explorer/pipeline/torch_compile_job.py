"""The entry point of the sandbox of programs with `torch.compile`.

The import and the first use of PyTorch's compiler take seconds: most of the time of a program with
`torch.compile`. Other jobs do not need the compiler.
"""

from __future__ import annotations

import torch

from explorer.model import Request
from explorer.pipeline import job, single_job, time_limit
from explorer.pipeline.error_events import Emit

__all__ = ["perform", "warm_up"]

_TARGET = "cuda:90"
#: Uses what programs use often, forward and backward.
_WARM_UP_SOURCE = """
import torch


@torch.compile
def layer(x, weight):
    y = torch.nn.functional.layer_norm(x @ weight, (64,))
    return torch.softmax(torch.nn.functional.gelu(y), 1).sum(0)


x = torch.randn(64, 64, device="cuda")
layer(x, torch.randn(64, 64, device="cuda", requires_grad=True)).sum().backward()
"""
#: The limit of the warm-up. On a busy machine the warm-up takes longer than a program may.
_WARM_UP_SECONDS = 100.0


def warm_up() -> None:
    """Import and use the compiler, so that a forked child starts fast.

    Raises:
        RuntimeError: the compiler does not work here.
    """
    single_job.warm_up()
    time_limit.set_job_seconds(_WARM_UP_SECONDS)
    time_limit.extend_script()
    job.perform(Request(_WARM_UP_SOURCE, _TARGET, "", task="inspect"), job.expect_success)
    torch.compiler.reset()


def perform(request: Request, emit: Emit) -> None:
    """Execute one job and emit its events, the last of which is `Done`."""
    time_limit.extend_script()
    job.perform(request, emit)
