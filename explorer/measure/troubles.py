"""Says what is behind an error that comes from the GPU or from running out of memory, and what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import torch
from triton.compiler.errors import CompilationError

from explorer.model import Diagnostic
from explorer.pipeline.errors import UserError
from explorer.pipeline.script import describe

Device = Literal["interpreter", "gpu"]

_SMALLER = "Make the sizes smaller: those of the run's inputs or of the benchmark, or those in the script."

#: What errors say, what is behind them, and what to do; the first that fits is taken.
_EXPLANATIONS: tuple[tuple[str, str, str], ...] = (
    (
        "an illegal memory access",
        "A kernel reads or writes outside of its tensors (CUDA: illegal memory access).",
        "Check masks and offsets. The interpreter says which line: run it there at a small size.",
    ),
    (
        "misaligned address",
        "A kernel reads or writes at an address that is not aligned (CUDA: misaligned address).",
        "Check strides and tl.multiple_of: what they promise must hold.",
    ),
    (
        "device-side assert triggered",
        "An assertion in a kernel has failed on the GPU.",
        "The log has what it says.",
    ),
    (
        "unspecified launch failure",
        "The kernel has crashed on the GPU (CUDA: unspecified launch failure).",
        "Check masks and offsets. The interpreter says which line: run it there at a small size.",
    ),
    ("CUDA out of memory", "The tensors do not fit in the GPU's memory.", _SMALLER),
    ("DefaultCPUAllocator", "The tensors do not fit in the memory that a run may have.", _SMALLER),
    ("Unable to allocate", "The tensors do not fit in the memory that a run may have.", _SMALLER),
    ("MemoryError", "The run has used up the memory that it may have.", _SMALLER),
    (
        "out of resource",
        "",
        "Make the blocks, num_stages or num_warps smaller, or choose another configuration.",
    ),
    ("not supported in interpreter mode", "", "Triton's interpreter cannot run this: run it on a GPU."),
    (
        "cannot convert None of type",
        "",
        "The interpreter does not know a function that is called, such as one of libdevice: use a GPU.",
    ),
    (
        "Did you forget to add @triton.jit",
        "",
        "Triton's interpreter knows the language by tl.name only: import triton.language as tl.",
    ),
    (
        "triton.language must be visible",
        "",
        "Triton's interpreter needs `import triton.language as tl` in the source, and `tl.` before names.",
    ),
)


def explain(diagnostic: Diagnostic, device: Device) -> Diagnostic:
    """Return `diagnostic` in words that say what has happened, where it is one of the known troubles."""
    for sign, message, hint in _EXPLANATIONS:
        if sign in diagnostic.message:
            return replace(diagnostic, message=message or diagnostic.message, hint=hint)
    if "CUDA error: " in diagnostic.message:
        _, _, said = diagnostic.message.partition("CUDA error: ")
        return replace(
            diagnostic,
            message=f"A kernel has failed on the GPU (CUDA: {said.splitlines()[0].strip()}).",
            hint="Check masks and offsets. The interpreter says which line: run it there at a small size.",
        )
    if diagnostic.message.startswith("AssertionError") and not diagnostic.hint:
        return replace(diagnostic, hint="A check of the script's own has failed.")
    if device == "interpreter" and "NotImplementedError" in diagnostic.message:
        return replace(diagnostic, hint="Triton's interpreter cannot run this: run it on a GPU.")
    return diagnostic


#: Of what has gone wrong: compilers say a lot.
_MOST_LINES = 6
_MOST_CHARACTERS = 1000


def in_words(error: Exception) -> str:
    """Say in a few lines what has gone wrong on a GPU, for a table that has many such things."""
    if isinstance(error, UserError):
        return error.diagnostic.message
    # Triton wraps the error of a called function in one for each caller, each with its whole source.
    while isinstance(error, CompilationError) and isinstance(error.__cause__, CompilationError):
        error = error.__cause__
    said = describe(error)
    if isinstance(error, CompilationError) and error.error_message:
        said = f"{type(error).__name__}: {error.error_message}"
    explained = explain(Diagnostic("error", said), "gpu").message
    return "\n".join(explained.strip().splitlines()[:_MOST_LINES])[:_MOST_CHARACTERS]


#: What torch and Triton say of a GPU that has gone wrong under this process.
_FATAL = (
    "CUDA error",
    "illegal memory access",
    "misaligned address",
    "illegal instruction",
    "device-side assert",
    "unspecified launch failure",
    "failed on the GPU",  # what `explain` makes of the others
)


def is_fatal(error: Exception) -> bool:
    """Tell whether nothing more can be done on the GPU by this process."""
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return False
    return isinstance(error, torch.AcceleratorError) or any(sign in str(error) for sign in _FATAL)
