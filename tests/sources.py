"""Sources that several tests compile."""

#: A small kernel and its launch.
SCALE = """import torch
import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(y_ptr + offsets, x * factor, mask=offsets < n)


x = torch.empty(4096, device="cuda")
scale[(4,)](x, x, 4096, 2.0, BLOCK=1024)
"""

#: Five stages of 128 × 128 need more shared memory than a block can have.
STAGED = """import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, k, B: tl.constexpr):
    i = tl.arange(0, B)
    sums = tl.zeros([B, B], tl.float32)
    for start in range(0, k, B):
        x = tl.load(a + i[:, None] * k + start + i[None, :])
        y = tl.load(b + (start + i[:, None]) * B + i[None, :])
        sums += tl.dot(x, y)
    tl.store(c + i[:, None] * B + i[None, :], sums)


a, b, c = (torch.empty((128, 4096), device="cuda", dtype=torch.float16) for _ in range(3))
product[(1,)](a, b, c, 4096, B=128, num_stages=3, num_warps=8)
"""

#: A program whose two kernels `torch.compile` writes.
TORCH_PROGRAM = """import torch


@torch.compile
def scaled(x):
    return torch.relu(x) * 2


@torch.compile
def summed(x):
    return torch.exp(x).sum(1)


summed(scaled(torch.randn(64, 128, device="cuda")))
"""

#: Each turn of its loop waits for its own loads.
SUMS = """import torch
import triton
import triton.language as tl

@triton.jit
def sums(x, out, columns, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):  # turn by turn
        total += tl.load(x + tl.program_id(0) * columns + start + tl.arange(0, BLOCK))
    tl.store(out + tl.program_id(0), tl.sum(total))

x = torch.empty((4096, 4096), device="cuda")
sums[(64,)](x, x, 4096, BLOCK=1024)
"""

#: A kernel with a matrix product, launched with float16.
SQUARE = """\
import torch, triton
import triton.language as tl

@triton.jit
def square(x_ptr, BLOCK: tl.constexpr):
    places = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + places)
    tl.store(x_ptr + places, tl.dot(x, x).to(x.dtype))

square[(1,)](torch.zeros(64, 64, dtype=torch.float16, device="cuda"), BLOCK=64)
"""

#: The script before a launch: its kernel stores a number.
HEAD = """\
import torch, triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), n)

x = torch.empty(64, device="cuda")
"""
