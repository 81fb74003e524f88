"""One job, from a request to its last event; and what a process does once so that jobs start fast."""

from __future__ import annotations

import json
import os

from explorer.model import SCRIPT_TASKS, Answer, Diagnostic, Event, Inspection, Log, Request, to_plain
from explorer.pipeline.targets import Target, find_target
from explorer.pipeline.work import Emit, perform_work

#: Uses once what scripts use often; what is imported lazily here would be imported by every job.
_WARM_UP_SOURCE = """
import torch
import triton
import triton.language as tl
import triton.testing
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.autotune([triton.Config({"BLOCK": 64})], key=["size"])
@triton.jit
def warm_up_kernel(x_ptr, descriptor, size, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, size, BLOCK):
        x = tl.load(x_ptr + offsets[:, None] * size + start + offsets[None, :], mask=offsets[None, :] < size)
        total += tl.dot(x, descriptor.load([0, start]).T)
    total = tl.exp(total - tl.max(total, 1)[:, None]) / tl.sum(total, 1)[:, None]
    tl.store(x_ptr + offsets[:, None] * size + offsets[None, :], total.to(tl.float16))


@gluon.jit
def gluon_kernel(x_ptr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    gl.store(x_ptr + gl.arange(0, 128, layout), 0.0)


if __name__ == "__main__":
    torch.manual_seed(0)
    # No gradients: PyTorch's engine for them would start CUDA where it is there, and with it a thread.
    weights = torch.randn((8, 8), device="cuda", requires_grad=True)
    torch.nn.functional.softmax(weights @ weights.t() + weights.cpu(), dim=-1).sum()
    torch.empty_like(weights).copy_(weights.detach().to(torch.float16))
    x = torch.randn((64, 64), device="cuda", dtype=torch.float16)
    warm_up_kernel[(1,)](x, TensorDescriptor.from_tensor(x, [64, 64]), 64)
    torch.testing.assert_close(x, torch.softmax(x @ x.T, dim=1), rtol=1e-3, atol=1e-3)
    assert torch.allclose(x, x + x)
    triton.testing.do_bench(lambda: x + x)
"""
_WARM_UP_TARGETS = ("cuda:90", "hip:gfx942")


def perform(request: Request, emit: Emit) -> None:
    """Do one job and tell of it by events, the last of which is `Done`."""
    perform_work(lambda told: _perform(request, find_target(request.target), told), emit, "The compile")


def _perform(request: Request, target: Target, emit: Emit) -> None:
    # What Triton 3.9 does by default, said aloud, so that it does not warn of what 3.10 will do.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    if request.task not in SCRIPT_TASKS:
        from explorer.pipeline.questions import QUESTIONS

        emit(Answer(json.dumps(to_plain(QUESTIONS[request.task](request, target)))))
        return
    from explorer.pipeline.compile import Compilation
    from explorer.pipeline.llvm_passes import LlvmPasses
    from explorer.pipeline.module import load
    from explorer.pipeline.scopes import left_out, marked_lines
    from explorer.pipeline.specialize import resolve

    found = load(request.source, target)
    emit(
        Inspection(
            tuple(kernel.info for kernel in found.kernels),
            tuple(launch.info for launch in found.launches),
        )
    )
    for diagnostic in found.diagnostics:
        emit(diagnostic)
    if found.output:
        emit(Log("stdout", found.output))
    if request.task == "inspect":
        return
    specialization = resolve(found, request, target)
    emit(specialization.described)
    if request.task == "compile" and (lines := marked_lines(request.source)):
        emit(left_out(lines))
    lowering = LlvmPasses if request.task == "llvm-passes" else Compilation
    lowering(specialization, target, request.source, emit).run()


def warm_up() -> None:
    """Import and use once what jobs need, for each vendor, so that a forked child need not.

    Raises:
        RuntimeError: the compiler does not work here.
    """
    for target in _WARM_UP_TARGETS:
        perform(Request(_WARM_UP_SOURCE, target, ""), _expect_success)


def _expect_success(event: Event) -> None:
    """Raise what a warm-up has found wrong: an installation that cannot compile must not look healthy."""
    if isinstance(event, Diagnostic) and event.severity == "error":
        raise RuntimeError(f"The compiler does not work here: {event.message}")
