"""A product of one tile in a pipelined loop: shared memory for both operands, and a conversion."""

import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, K, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + i[:, None] * K + (k + i)[None, :])
        right = tl.load(b + (k + i)[:, None] * BLOCK + i[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + i[:, None] * BLOCK + i[None, :], tl.maximum(total, 0.0).to(tl.float16))


a = torch.empty((64, 512), device="cuda", dtype=torch.float16)
b = torch.empty((512, 64), device="cuda", dtype=torch.float16)
product[(1,)](a, b, torch.empty((64, 64), device="cuda", dtype=torch.float16), 512, 64, num_warps=4)
