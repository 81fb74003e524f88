"""Test the hints for errors of the GPU."""

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.compiler.errors import CompilationError

from explorer.model import Diagnostic
from explorer.pipeline.errors import UserError
from explorer.runner.error_hints import explain, is_fatal, summarize_error

ADVICE = (
    "\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below "
    "might be incorrect.\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("an illegal memory access was encountered", "outside of its tensors (CUDA: illegal memory access)"),
        ("misaligned address", "not aligned (CUDA: misaligned address)"),
        ("unspecified launch failure", "crashed on the GPU"),
        ("device-side assert triggered", "An assertion in a kernel failed"),
        ("an illegal instruction was encountered", "(CUDA: an illegal instruction was encountered)"),
    ],
)
def test_cuda_errors(said, message):
    diagnostic = Diagnostic("error", f"AcceleratorError: CUDA error: {said}{ADVICE}", line=7)
    explained = explain(diagnostic, "gpu")
    assert message in explained.message and "TORCH_USE_CUDA_DSA" not in explained.message
    assert explained.line == 7 and explained.hint


def test_memory_that_is_full_is_not_fatal():
    assert not is_fatal(torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 1 GiB"))
    assert is_fatal(RuntimeError("CUDA error: an illegal memory access was encountered"))
    assert not is_fatal(ValueError("no"))


def test_what_is_not_known_stays_as_it_is():
    diagnostic = Diagnostic("error", "ValueError: no", line=3)
    assert explain(diagnostic, "gpu") == diagnostic


def test_what_was_explained_is_still_fatal():
    said = f"AcceleratorError: CUDA error: device-side assert triggered{ADVICE}"
    assert is_fatal(UserError(explain(Diagnostic("error", said), "gpu")))


@triton.jit
def called(x):
    return x + tl.arange(0, 100)


@triton.jit
def caller(x):
    tl.store(x + called(0), 1.0)


def test_a_compilers_message_is_told_without_the_source_around_it(monkeypatch):
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    with pytest.raises(CompilationError) as refused:
        triton.compile(ASTSource(caller, {"x": "*fp32"}, {}), target=GPUTarget("cuda", 90, 32))
    assert summarize_error(refused.value) == "CompilationError: arange's range must be a power of 2"
    assert "def caller" in str(refused.value)
