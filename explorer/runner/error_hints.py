"""Explains errors of the GPU and out-of-memory errors: what happened, and what to do."""

from __future__ import annotations

from dataclasses import replace

import torch
from triton.compiler.errors import CompilationError

from explorer.model import DeviceKind, Diagnostic
from explorer.pipeline.errors import UserError
from explorer.pipeline.script import describe

_SMALLER = "Reduce the sizes of the run's inputs, of the benchmark, or in the script."

#: A pattern of the error message, the explanation, and what to do. The first match is used.
_EXPLANATIONS: tuple[tuple[str, str, str], ...] = (
    (
        "an illegal memory access",
        "A kernel reads or writes outside of its tensors (CUDA: illegal memory access).",
        "Check masks and offsets. In the interpreter, at a small size, the error has its line.",
    ),
    (
        "misaligned address",
        "A kernel reads or writes at an address that is not aligned (CUDA: misaligned address).",
        "Check strides and tl.multiple_of: their values must be correct.",
    ),
    (
        "device-side assert triggered",
        "An assertion in a kernel failed on the GPU.",
        "See the log for its message.",
    ),
    (
        "unspecified launch failure",
        "The kernel crashed on the GPU (CUDA: unspecified launch failure).",
        "Check masks and offsets. In the interpreter, at a small size, the error has its line.",
    ),
    ("CUDA out of memory", "The tensors do not fit in the GPU's memory.", _SMALLER),
    ("DefaultCPUAllocator", "The tensors exceed the memory limit of a run.", _SMALLER),
    ("Unable to allocate", "The tensors exceed the memory limit of a run.", _SMALLER),
    ("MemoryError", "The run exceeded its memory limit.", _SMALLER),
    (
        "out of resource",
        "",
        "Reduce the block sizes, num_stages or num_warps, or choose another configuration.",
    ),
    (
        "not supported in interpreter mode",
        "",
        "Triton's interpreter cannot run this kernel. Run it on a GPU.",
    ),
    (
        "cannot convert None of type",
        "",
        "The interpreter does not support a called function, such as one of libdevice. Use a GPU.",
    ),
    (
        "Did you forget to add @triton.jit",
        "",
        "Triton's interpreter requires the form tl.name: import triton.language as tl.",
    ),
    (
        "triton.language must be visible",
        "",
        "Triton's interpreter needs `import triton.language as tl` in the source, and `tl.` before names.",
    ),
)


def explain(diagnostic: Diagnostic, device: DeviceKind) -> Diagnostic:
    """Return `diagnostic` with an explanation and a hint if it is a known error."""
    for sign, message, hint in _EXPLANATIONS:
        if sign in diagnostic.message:
            return replace(diagnostic, message=message or diagnostic.message, hint=hint)
    if "CUDA error: " in diagnostic.message:
        _, _, text = diagnostic.message.partition("CUDA error: ")
        return replace(
            diagnostic,
            message=f"A kernel failed on the GPU (CUDA: {text.splitlines()[0].strip()}).",
            hint="Check masks and offsets. In the interpreter, at a small size, the error has its line.",
        )
    if diagnostic.message.startswith("AssertionError") and not diagnostic.hint:
        return replace(diagnostic, hint="An assertion in the script failed.")
    if device == "interpreter" and "NotImplementedError" in diagnostic.message:
        return replace(diagnostic, hint="Triton's interpreter cannot run this kernel. Run it on a GPU.")
    return diagnostic


#: The length to which an error message is shortened: compilers print a lot.
_MOST_LINES = 6
_MOST_CHARACTERS = 1000


def summarize_error(error: Exception) -> str:
    """Summarize an error on a GPU in a few lines, for a table with many errors."""
    if isinstance(error, UserError):
        return error.diagnostic.message
    # Triton wraps the error of a called function in one error per caller, each with its whole source.
    while isinstance(error, CompilationError) and isinstance(error.__cause__, CompilationError):
        error = error.__cause__
    text = describe(error)
    if isinstance(error, CompilationError) and error.error_message:
        text = f"{type(error).__name__}: {error.error_message}"
    explained = explain(Diagnostic("error", text), "gpu").message
    return "\n".join(explained.strip().splitlines()[:_MOST_LINES])[:_MOST_CHARACTERS]


#: Messages of torch and Triton after an error that makes the GPU unusable for this process.
_FATAL = (
    "CUDA error",
    "illegal memory access",
    "misaligned address",
    "illegal instruction",
    "device-side assert",
    "unspecified launch failure",
    "failed on the GPU",  # The explanations of `explain` for the other messages.
)


def is_fatal(error: Exception) -> bool:
    """Return whether the GPU has become unusable for this process."""
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return False
    return isinstance(error, torch.AcceleratorError) or any(sign in str(error) for sign in _FATAL)
