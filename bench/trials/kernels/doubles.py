import torch, triton
import triton.language as tl


@triton.jit
def polynomial(x, y, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offset).to(tl.float64)
    result = value
    for power in tl.static_range(24):
        result = result * value + 1.0 / (power + 1)
    tl.store(y + offset, result)


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + column).to(tl.float64)
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * columns + column, value / tl.sum(value, 0))


@triton.jit
def row_sum(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float64)
    for start in range(0, columns, BLOCK):
        value = tl.load(x + row * columns + start + tl.arange(0, BLOCK))
        total += value * value
    tl.store(y + row, tl.sum(total, 0))


@triton.jit
def layer_norm(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + column).to(tl.float64)
    centered = value - tl.sum(value, 0) / columns
    tl.store(y + row * columns + column, centered / tl.sqrt(tl.sum(centered * centered, 0) / columns + 1e-5))


@triton.jit
def scale(x, y, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offset, tl.load(x + offset) * tl.full((BLOCK,), 2.0, tl.float64))


x = 0.5 * torch.rand(8192, 4096, device="cuda")
y = torch.empty_like(x)
polynomial[(x.numel() // 1024,)](x, y, BLOCK=1024)
polynomial[(x.numel() // 2048,)](x, y, BLOCK=2048)
softmax[(8192,)](x, y, 4096, BLOCK=4096)
softmax[(8192,)](x, y, 1024, BLOCK=1024)
row_sum[(8192,)](x, y, 4096, BLOCK=1024)
layer_norm[(8192,)](x, y, 4096, BLOCK=4096)
layer_norm[(8192,)](x, y, 1024, BLOCK=1024)
scale[(x.numel() // 1024,)](x, y, BLOCK=1024)
