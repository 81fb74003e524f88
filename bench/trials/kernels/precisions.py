import torch, triton
import triton.language as tl


@triton.jit
def matmul_exact(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, k, BK):
        inner = step + tl.arange(0, BK)
        x = tl.load(a + row[:, None] * k + inner[None, :])
        y = tl.load(b + inner[:, None] * n + column[None, :])
        total = tl.dot(x, y, total, input_precision="ieee")
    tl.store(c + row[:, None] * n + column[None, :], total)


@triton.jit
def linear_exact(x, w, out, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    outs = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, k, BK):
        inner = step + tl.arange(0, BK)
        left = tl.load(x + rows[:, None] * k + inner[None, :])
        right = tl.load(w + outs[None, :] * k + inner[:, None])
        total += tl.dot(left, right, allow_tf32=False)
    tl.store(out + rows[:, None] * n + outs[None, :], total * tl.sigmoid(total))


@triton.jit
def gram_exact(x, out, n, k, BN: tl.constexpr, BK: tl.constexpr):
    one = tl.program_id(0) * BN + tl.arange(0, BN)
    other = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BN, BN), tl.float32)
    for step in range(0, k, BK):
        inner = step + tl.arange(0, BK)
        left = tl.load(x + one[:, None] * k + inner[None, :])
        right = tl.load(x + other[:, None] * k + inner[None, :])
        total = tl.dot(left, tl.trans(right), total, "ieee")
    tl.store(out + one[:, None] * n + other[None, :], total)


def run(kernel, size, bm, bn, bk, **options):
    a, b, c = (torch.randn(size, size, device="cuda") for _ in range(3))
    kernel[(size // bm, size // bn)](a, b, c, size, size, size, BM=bm, BN=bn, BK=bk, **options)


run(matmul_exact, 2048, 64, 64, 32, num_warps=4)
run(matmul_exact, 2048, 128, 64, 32, num_warps=8)
run(matmul_exact, 4096, 128, 128, 16, num_warps=8)
run(linear_exact, 2048, 64, 64, 32, num_warps=4)
run(linear_exact, 1024, 32, 32, 32, num_warps=4)
x, out = torch.randn(2048, 1024, device="cuda"), torch.empty(2048, 2048, device="cuda")
gram_exact[(32, 32)](x, out, 2048, 1024, BN=64, BK=32, num_warps=4)
