"""Integers of 8, 16, 32 and 64 bits, with and without sign, and a predicated store of each."""

import torch
import triton
import triton.language as tl


@triton.jit
def integers(bytes_ptr, shorts_ptr, words_ptr, out_ptr, narrow_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (offsets < n) & (offsets % 3 != 1)
    small = tl.load(bytes_ptr + offsets, mask=mask, other=-7)
    middle = tl.load(shorts_ptr + offsets, mask=mask, other=40000)
    large = tl.load(words_ptr + offsets, mask=mask, other=0)
    quotient = large // (small.to(tl.int64) * small + 3)
    rest = large % (middle.to(tl.int64) + 1)
    mixed = (quotient ^ (rest << 5)) + (large >> 7) - tl.where(small < 0, middle.to(tl.int64), -large)
    tl.store(out_ptr + offsets, mixed, mask=mask)
    tl.store(narrow_ptr + offsets, (mixed & 255).to(tl.int8), mask=mask & (small > 0))


integers[(3,)](
    torch.empty(300, dtype=torch.int8, device="cuda"),
    torch.empty(300, dtype=torch.uint16, device="cuda"),
    torch.empty(300, dtype=torch.int64, device="cuda"),
    torch.empty(300, dtype=torch.int64, device="cuda"),
    torch.empty(300, dtype=torch.int8, device="cuda"),
    300,
    BLOCK=128,
)
