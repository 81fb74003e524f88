import torch, triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offset < n
    tl.store(z + offset, tl.load(x + offset, mask=mask) + tl.load(y + offset, mask=mask), mask=mask)


@triton.jit
def normalize(x, y, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offset)
    value = value - tl.sum(value, 0) / BLOCK
    tl.store(y + offset, value / tl.sqrt(tl.sum(value * value, 0) / BLOCK + 1e-5))


@triton.jit
def softmax(x, y, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offset)
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + offset, value / tl.sum(value, 0))


@triton.jit
def polynomial(x, y, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offset)
    result = value
    for power in tl.static_range(8):
        result = result * value + power
    tl.store(y + offset, result * value)


n = 1 << 25
x = torch.randn(n, device="cuda")
y = torch.empty_like(x)
grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]),)
add[grid](x, x, y, n, BLOCK=32768)
add[grid](x, x, y, n, BLOCK=16384, num_warps=2)
add[grid](x, x, y, n, BLOCK=65536)
normalize[(n // 32768,)](x, y, BLOCK=32768)
normalize[(n // 16384,)](x, y, BLOCK=16384, num_warps=2)
softmax[(n // 32768,)](x, y, BLOCK=32768)
softmax[(n // 16384,)](x, y, BLOCK=16384, num_warps=2)
polynomial[grid](x, y, BLOCK=65536)
