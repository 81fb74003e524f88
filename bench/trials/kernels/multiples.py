import torch, triton
import triton.language as tl


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + column, mask=column < columns, other=-float("inf")).to(tl.float32)
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * columns + column, value / tl.sum(value, 0), mask=column < columns)


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offset, 2 * tl.load(x + offset, mask=offset < n), mask=offset < n)


@triton.jit
def pad(x, y, columns, stride, n, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offset, tl.load(x + offset // columns * stride + offset % columns))


@triton.jit
def matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + row[:, None] * K + (k + inner)[None, :], mask=inner[None, :] < K - k, other=0.0)
        y = tl.load(b + (k + inner)[:, None] * N + column[None, :], mask=inner[:, None] < K - k, other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + row[:, None] * N + column[None, :], total.to(tl.float16))


def run_softmax(rows, columns, dtype=torch.float16):
    x = torch.randn(rows, columns, device="cuda", dtype=dtype)
    softmax[(rows,)](x, torch.empty_like(x), columns, BLOCK=triton.next_power_of_2(columns))


def run_scale(n, dtype):
    x = torch.randn(n, device="cuda", dtype=dtype)
    scale[(triton.cdiv(n, 1024),)](x, torch.empty_like(x), n, BLOCK=1024)


def run_pad(columns, stride, dtype):
    y = torch.empty(1 << 25, device="cuda", dtype=dtype)
    x = torch.randn(triton.cdiv(1 << 25, columns) * stride, device="cuda", dtype=dtype)
    pad[(1 << 15,)](x, y, columns, stride, 1 << 25, BLOCK=1024)


def run_matmul(size, inner):
    a = torch.randn(size, inner, device="cuda", dtype=torch.float16)
    b = torch.randn(inner + 64, size, device="cuda", dtype=torch.float16)
    c = torch.empty(size, size, device="cuda", dtype=torch.float16)
    matmul[(size // 128, size // 128)](a, b, c, size, inner, BM=128, BN=128, BK=64, num_warps=8)


run_softmax(65536, 1000)
run_softmax(32768, 2040)
run_softmax(32768, 1004, torch.float32)
run_scale((1 << 26) - 8, torch.float16)
run_scale((1 << 25) - 4, torch.float32)
run_pad(24, 40, torch.float32)
run_pad(1000, 1064, torch.float16)
run_matmul(4096, 4104)
run_matmul(2048, 1000)
