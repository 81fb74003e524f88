"""One job, from a request to its last event, and the warm-up that makes jobs start fast."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from explorer.model import (
    SCRIPT_TASKS,
    Answer,
    Diagnostic,
    Event,
    Inspection,
    Log,
    Outcome,
    Progress,
    Request,
    to_plain,
)
from explorer.model.hardware import Target, find_target
from explorer.pipeline.error_events import Emit, perform_work
from explorer.pipeline.errors import UserError
from explorer.pipeline.script_process import request_after_script

if TYPE_CHECKING:
    from explorer.pipeline.module import SourceContents
    from explorer.pipeline.specialize import Specialization
    from explorer.pipeline.stage_source import StageSource

#: Uses what scripts use often. Otherwise every job would import these modules again.
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
#: The work of most jobs. The needs of large kernels would take memory in each process that waits for a job.
_REHEARSAL_SOURCE = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < size)
    tl.store(y_ptr + offsets, x + 1, mask=offsets < size)


x = torch.randn(1024, device="cuda")
y = torch.empty_like(x)
kernel[(triton.cdiv(1024, 256),)](x, y, 1024, BLOCK=256)
torch.testing.assert_close(y, x + 1)
"""

_TORCH_PROGRAM = Diagnostic(
    "note",
    "A compiler writes the kernels of this program.",
    hint="Open them to compile them. The command line does so by itself.",
)


def perform(request: Request, emit: Emit) -> None:
    """Execute one job and emit its events, the last of which is `Done`."""
    perform_work(
        lambda emit_once: _perform(request, find_target(request.target), emit_once), emit, "The compile"
    )


def _perform(request: Request, target: Target, emit: Emit) -> Outcome:
    # The default of Triton 3.9. Setting it explicitly avoids a warning about a change in 3.10.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    if request.task not in SCRIPT_TASKS:
        from explorer.pipeline.compiler_queries import COMPILER_QUERIES

        emit(Answer(json.dumps(to_plain(COMPILER_QUERIES[request.task](request, target)))))
        return "complete"
    from explorer.pipeline.repeated_launches import depends_on_target, for_target
    from explorer.pipeline.scopes import marked_lines, scopes_ignored_by_compiler
    from explorer.pipeline.specialize import resolve
    from explorer.pipeline.stage_source import find_stage_source

    if request.task not in ("captured", "run") and (source := find_stage_source(request.source)) is not None:
        _perform_stage(source, request, target, emit)
        return "complete"
    found = _load(request, target, emit)
    later = request_after_script(request, lambda: not depends_on_target(found, target, request.assumed))
    if later.target != request.target:
        target = find_target(later.target)
        found = for_target(found, target, later.assumed) or _load(later, target, emit)
    request = later
    emit(
        Inspection(
            tuple(kernel.info for kernel in found.kernels),
            tuple(launch.info for launch in found.launches),
            found.assumed,
            found.output_code,
        )
    )
    for diagnostic in found.diagnostics:
        emit(diagnostic)
    if found.output:
        emit(Log("stdout", found.output))
    if request.task == "inspect":
        return "complete"
    if request.task == "captured":
        from explorer.pipeline.captured import show_captured

        show_captured(found, request, target, emit)
        return "complete"
    if found.is_torch_program:
        emit(_TORCH_PROGRAM)
        return "kernels_found"
    specialization = resolve(found, request, target)
    emit(specialization.described)
    if request.task == "compile" and (lines := marked_lines(request.source)):
        emit(scopes_ignored_by_compiler(lines))
    _compile(specialization, request, target, emit)
    return "complete"


def _load(request: Request, target: Target, emit: Emit) -> SourceContents:
    """Execute the script of a request."""
    from explorer.pipeline.module import load

    return load(
        request.source,
        target,
        request.files,
        request.path,
        request.assumed,
        request.script_arguments,
        report=lambda text: emit(Progress(0, 0, text)),
    )


def _perform_stage(source: StageSource, request: Request, target: Target, emit: Emit) -> None:
    """Compile a source that is the text of a stage."""
    emit(source.inspection())
    if request.task == "inspect":
        return
    specialization = source.specialization(request, target)
    emit(specialization.described)
    try:
        _compile(
            specialization,
            request,
            target,
            lambda event: emit(source.at_source(event) if isinstance(event, Diagnostic) else event),
        )
    except UserError as error:
        raise UserError(source.at_source(error.diagnostic)) from error


def _compile(specialization: Specialization, request: Request, target: Target, emit: Emit) -> None:
    from explorer.pipeline.compile import Compilation
    from explorer.pipeline.lineage import LineageCompilation
    from explorer.pipeline.llvm_passes import LlvmPasses

    lowerings = {"llvm-passes": LlvmPasses, "lineage": LineageCompilation}
    lowerings.get(request.task, Compilation)(specialization, target, emit, request.edits).run()


def warm_up() -> None:
    """Import and use the modules that jobs need, for each vendor, so that a forked child starts fast.

    Raises:
        RuntimeError: the compiler does not work here.
    """
    for target in _WARM_UP_TARGETS:
        perform(Request(_WARM_UP_SOURCE, target, ""), expect_success)


def rehearse() -> None:
    """Execute a typical job."""
    perform(Request(_REHEARSAL_SOURCE, _WARM_UP_TARGETS[0], ""), lambda _event: None)


def expect_success(event: Event) -> None:
    """Raise if the warm-up emitted an error, so that a broken installation does not look healthy."""
    if isinstance(event, Diagnostic) and event.severity == "error":
        raise RuntimeError(f"The compiler does not work on this machine: {event.message}")
