"""A rotation of pairs. Its loads and stores follow each other, and no two of them are in one line."""

import torch
import triton
import triton.language as tl


@triton.jit
def rotate(x, angles, out, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    half = tl.arange(0, BLOCK)
    cosine = tl.load(angles + half)
    sine = tl.load(angles + BLOCK + half)
    for head in range(4):
        start = row * stride + head * 2 * BLOCK
        left = tl.load(x + start + half)
        right = tl.load(x + start + BLOCK + half)
        turned_left = left * cosine - right * sine
        turned_right = left * sine + right * cosine
        tl.store(out + start + half, turned_left)
        tl.store(out + start + BLOCK + half, turned_right)


x = torch.empty(2**20, device="cuda", dtype=torch.float16)
rotate[(128,)](x, x, x, 8192, BLOCK=1024)
