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
