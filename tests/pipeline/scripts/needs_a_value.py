import torch
import triton
import triton.language as tl


@triton.jit
def fill(x_ptr, value, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, value, mask=offsets < n)


x = torch.empty(1000, device="cuda")
fill[(8,)](x, 1.0, 1000, BLOCK=128)
assert (x == 1).all()
print("largest", x.max().item())
if x.sum() > 0:
    fill[(4,)](x, 2.0, 1000, BLOCK=256)
