"""Floats of 16, 32 and 64 bits, conversions between them and to integers, comparisons with NaN."""

import torch
import triton
import triton.language as tl


@triton.jit
def floats(half_ptr, bfloat_ptr, single_ptr, double_ptr, out_ptr, sums_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    half = tl.load(half_ptr + offsets, mask=mask, other=1.5)
    bfloat = tl.load(bfloat_ptr + offsets, mask=mask, other=-2.0)
    single = tl.load(single_ptr + offsets, mask=mask, other=float("nan"))
    double = tl.load(double_ptr + offsets, mask=mask, other=0.25)
    mixed = half.to(tl.float32) * single + bfloat.to(tl.float32)
    wide = tl.where(single == single, double * mixed.to(tl.float64), -double)
    rounded = (tl.sqrt(tl.abs(mixed)) + tl.floor(single)).to(tl.int32)
    tl.store(double_ptr + offsets, wide - rounded, mask=mask)
    tl.store(out_ptr + offsets, tl.maximum(mixed, 0.5).to(tl.float16), mask=mask)
    tl.store(bfloat_ptr + offsets, tl.minimum(mixed, 3.0).to(tl.bfloat16), mask=mask)
    sums = tl.cumsum(tl.where(mask, double, 0.0), axis=0)
    tl.store(sums_ptr + offsets, sums, mask=mask)


floats[(2,)](
    torch.empty(200, dtype=torch.float16, device="cuda"),
    torch.empty(200, dtype=torch.bfloat16, device="cuda"),
    torch.empty(200, device="cuda"),
    torch.empty(200, dtype=torch.float64, device="cuda"),
    torch.empty(200, dtype=torch.float16, device="cuda"),
    torch.empty(200, dtype=torch.float64, device="cuda"),
    200,
    BLOCK=128,
)
