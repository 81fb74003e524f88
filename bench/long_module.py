"""A kernel that compiles to modules of any length: an unrolled series.

Each thread computes 32 values. The straight-line code has low register pressure, so the back end takes only
seconds.
"""

from __future__ import annotations

LEAST_LINES = 50_000
#: With this number of terms, the LLVM IR has more than `LEAST_LINES` lines.
TERMS = 530
#: With this number of terms, the modules in the LLVM dialect have about 30,000 lines.
FEWER_TERMS = 78

_SOURCE = """\
import torch
import triton
import triton.language as tl


@triton.jit
def sine_series(x_ptr, y_ptr, TERMS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    term = x
    total = x
    for k in tl.static_range(1, TERMS):
        term = term * x * (-1.0 / (2 * k * (2 * k + 1)))
        total += term
    tl.store(y_ptr + offsets, total)


x = torch.empty(1 << 20, device="cuda")
sine_series[(256,)](x, torch.empty_like(x), TERMS=$terms, BLOCK=4096, num_warps=4)
"""


def source(terms: int) -> str:
    """Return the script with `terms` terms of the series."""
    return _SOURCE.replace("$terms", str(terms))
