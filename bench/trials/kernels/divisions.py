import torch, triton
import triton.language as tl


@triton.jit
def sum_groups(x, y, size, turns, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    start = tl.program_id(0).to(tl.int64) * BLOCK * turns + tl.arange(0, BLOCK)
    for turn in range(turns):
        index = start + turn * BLOCK
        group = index // size
        total += tl.load(x + index) * group
    tl.store(y + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)


@triton.jit
def read_padded(x, y, columns, stride, turns, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    start = tl.program_id(0).to(tl.int64) * BLOCK * turns + tl.arange(0, BLOCK)
    for turn in range(turns):
        index = start + turn * BLOCK
        row = index // columns
        total += tl.load(x + row * stride + (index - row * columns))
    tl.store(y + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)


@triton.jit
def convolution(x, weights, y, columns, taps, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in range(taps):
        column = (index + tap) % columns
        total += tl.load(x + index - index % columns + column) * tl.load(weights + tap)
    tl.store(y + index, total)


@triton.jit
def histogram(x, y, size, turns, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * BLOCK * turns + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.int64)
    for turn in range(turns):
        value = tl.load(x + start + turn * BLOCK).to(tl.int64)
        total += value % size
    tl.store(y + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)


@triton.jit
def matmul_of_patches(a, b, c, width, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        patch = row[:, None] + inner[None, :]
        line = patch // width
        x = tl.load(a + line * width + (patch - line * width))
        y = tl.load(b + inner[:, None] * N + column[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + row[:, None] * N + column[None, :], total.to(tl.float16))


n = 1 << 25
x = torch.randn(n, device="cuda")
y = torch.empty_like(x)
sum_groups[(2048,)](x, y, 1000, 16, BLOCK=1024)
sum_groups[(8192,)](x, y, 1000, 4, BLOCK=1024)
read_padded[(2048,)](x, y, 1000, 1000, 16, BLOCK=1024)
read_padded[(4096,)](x, y, 4000, 4000, 8, BLOCK=1024)
convolution[(n // 2048,)](x, x, y, 4000, 7, BLOCK=1024)
convolution[(n // 1024 - 64,)](x, x, y, 4096, 3, BLOCK=1024)
counts = torch.randint(0, 1 << 20, (n,), device="cuda", dtype=torch.int32)
histogram[(2048,)](counts, torch.empty(1 << 21, device="cuda", dtype=torch.int64), 1000, 16, BLOCK=1024)
half = torch.randn(4096 * 4096 + 8192, device="cuda", dtype=torch.float16)
product = torch.empty(4096, 4096, device="cuda", dtype=torch.float16)
matmul_of_patches[(64, 32)](half, half, product, 4096, 4096, 1024, BM=64, BN=128, BK=32)
