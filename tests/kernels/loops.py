"""Loops with counts that only the launch knows, one inside the other, and branches on scalars."""

import torch
import triton
import triton.language as tl


@triton.jit
def loops(x_ptr, lengths_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    length = tl.load(lengths_ptr + row)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, length, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + offsets, mask=offsets < length, other=0.0)
        for power in range(row):
            x = x * 0.5 + power
        total += x
    result = tl.sum(total, axis=0)
    if length > 100:
        result = result / length
    elif length > 10:
        result = -result
    tl.store(out_ptr + row, result)
    steps = 0
    while length > 1:
        length = tl.where(length % 2 == 0, length // 2, 3 * length + 1)
        steps += 1
    tl.store(out_ptr + 8 + row, steps.to(tl.float32))


loops[(5,)](
    torch.empty(5, 300, device="cuda"),
    torch.empty(5, dtype=torch.int32, device="cuda"),
    torch.empty(16, device="cuda"),
    300,
    BLOCK=128,
)
