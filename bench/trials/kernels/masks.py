import torch, triton
import triton.language as tl


@triton.jit
def matmul_masked(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, k, BK):
        inner = step + tl.arange(0, BK)
        x = tl.load(a + row[:, None] * k + inner[None, :], mask=inner[None, :] < k, other=0.0)
        y = tl.load(b + inner[:, None] * n + column[None, :], mask=inner[:, None] < k, other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + row[:, None] * n + column[None, :], total.to(c.dtype.element_ty))


@triton.jit
def matmul_masked_both(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for turn in range(tl.cdiv(k, BK)):
        inner = turn * BK + tl.arange(0, BK)
        x_mask = (row[:, None] < m) & (inner[None, :] < k)
        y_mask = (inner[:, None] < k) & (column[None, :] < n)
        x = tl.load(a + row[:, None] * k + inner[None, :], mask=x_mask, other=0.0)
        y = tl.load(b + inner[:, None] * n + column[None, :], mask=y_mask, other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + row[:, None] * n + column[None, :], total.to(c.dtype.element_ty))


@triton.jit
def matmul_steps(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    x_pointers = a + row[:, None] * k + inner[None, :]
    y_pointers = b + inner[:, None] * n + column[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for turn in range(tl.cdiv(k, BK)):
        x = tl.load(x_pointers, mask=inner[None, :] < k - turn * BK, other=0.0)
        y = tl.load(y_pointers, mask=inner[:, None] < k - turn * BK, other=0.0)
        total = tl.dot(x, y, total)
        x_pointers += BK
        y_pointers += BK * n
    tl.store(c + row[:, None] * n + column[None, :], total.to(c.dtype.element_ty))


@triton.jit
def batched_masked(a, b, c, size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    start = tl.program_id(2) * size * size
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, size, BK):
        inner = step + tl.arange(0, BK)
        x_mask = (row < size)[:, None] & (inner < size)[None, :]
        x = tl.load(a + start + row[:, None] * size + inner[None, :], mask=x_mask, other=0.0)
        y_mask = (inner < size)[:, None] & (column < size)[None, :]
        y = tl.load(b + start + inner[:, None] * size + column[None, :], mask=y_mask, other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + start + row[:, None] * size + column[None, :], total.to(c.dtype.element_ty))


@triton.jit
def add_rows(x, y, groups, columns, BLOCK: tl.constexpr):
    bound = columns // groups
    row = tl.program_id(0) * columns + tl.program_id(1) * bound
    lanes = tl.arange(0, BLOCK)
    mask = lanes < bound
    tl.store(y + row + lanes, tl.load(x + row + lanes, mask=mask, other=0.0) * 2.0, mask=mask)


def run(kernel, size, bm, bn, bk, dtype=torch.float16, **options):
    a, b, c = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(3))
    kernel[(size // bm, size // bn)](a, b, c, size, size, size, BM=bm, BN=bn, BK=bk, **options)


run(matmul_masked, 4096, 128, 128, 64, num_warps=8)
run(matmul_masked, 4096, 128, 128, 64, num_warps=4)
run(matmul_masked, 2048, 64, 64, 64, torch.bfloat16, num_warps=4)
run(matmul_masked_both, 4096, 128, 128, 64, num_warps=8)
run(matmul_masked_both, 4096, 128, 128, 32, num_warps=4)
run(matmul_masked_both, 8192, 128, 64, 64, torch.bfloat16, num_warps=4)
run(matmul_steps, 4096, 64, 64, 64, num_warps=4)
run(matmul_steps, 4096, 128, 128, 64, num_warps=4)
a, b, c = (torch.randn(16, 1024, 1024, device="cuda", dtype=torch.float16) for _ in range(3))
batched_masked[(8, 8, 16)](a, b, c, 1024, BM=128, BN=128, BK=64, num_warps=4)
batched_masked[(16, 16, 16)](a, b, c, 1024, BM=64, BN=64, BK=64, num_warps=4)
x, y = (torch.randn(8192, 4096, device="cuda", dtype=torch.float16) for _ in range(2))
add_rows[(8192, 4)](x, y, 4, 4096, BLOCK=1024)
