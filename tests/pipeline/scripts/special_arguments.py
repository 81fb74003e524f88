"""Arguments of every kind that a kernel can take."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

SCALE = tl.constexpr(3)
DTYPES = {torch.float16: tl.float16, torch.float32: tl.float32}


class Pair(NamedTuple):
    pointer: torch.Tensor
    count: int


@triton.jit
def double(x):
    return x * 2


@triton.jit
def triple(x):
    return x * SCALE


@triton.jit
def kernel(
    pair,
    tensors,
    optional,
    flag,
    one,
    wide,
    negative,
    real,
    OUT: tl.constexpr,
    KIND: tl.constexpr,
    SHAPE: tl.constexpr,
    apply: tl.constexpr,
    OFFSET: tl.constexpr = 4,
    BLOCK: tl.constexpr = 64,
):
    offsets = tl.arange(0, BLOCK) + OFFSET
    x = tl.load(pair.pointer + offsets, mask=offsets < pair.count) + tl.load(tensors[0] + offsets)
    if optional is not None:
        x += tl.load(optional + offsets)
    if KIND == "apply":
        x = apply(x) * real + one
    tl.store(tensors[1] + offsets + wide + SHAPE[0], x.to(OUT), mask=flag)


x = torch.randn(4096, device="cuda")
y = torch.empty(4096, device="cuda", dtype=torch.float16)
common = dict(OUT=DTYPES[y.dtype], KIND="apply", SHAPE=(2, 4))
kernel[(1,)](Pair(x, 100), (x, y), None, True, 1, 2**40, -16, 0.5, apply=double, **common)
kernel[(1, 2)](Pair(x, 96), (x[1:], y[8:]), x[4:], False, 2, 16, 3, 1.5, apply=triple, num_warps=8, **common)
