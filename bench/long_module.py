"""A kernel whose modules are as long as one likes, as it is compiled: an unrolled series.

32 values a thread: straight-line code of low register pressure, with which the back end is done in seconds.
"""

from __future__ import annotations

LEAST_LINES = 50_000
#: With these its LLVM IR has more than `LEAST_LINES` lines.
TERMS = 530
#: With these the modules in the LLVM dialect have some 30,000.
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
    """The script with so many terms of the series."""
    return _SOURCE.replace("$terms", str(terms))
