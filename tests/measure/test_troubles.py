"""Errors of the GPU, in words that say what has happened and what to do."""

import pytest
import torch

from explorer.measure.troubles import explain, is_fatal
from explorer.model import Diagnostic

ADVICE = (
    "\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below "
    "might be incorrect.\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n"
)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("an illegal memory access was encountered", "outside of its tensors (CUDA: illegal memory access)"),
        ("misaligned address", "not aligned (CUDA: misaligned address)"),
        ("unspecified launch failure", "has crashed on the GPU"),
        ("device-side assert triggered", "An assertion in a kernel has failed"),
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
