"""A kernel whose LLVM IR has more than 50,000 lines, as it is compiled: an unrolled series.

32 values a thread: straight-line code of low register pressure, with which the back end is done in seconds.
"""

from __future__ import annotations

LEAST_LINES = 50_000

SOURCE = """\
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
sine_series[(256,)](x, torch.empty_like(x), TERMS=530, BLOCK=4096, num_warps=4)
"""
