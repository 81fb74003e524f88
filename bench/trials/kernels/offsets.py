import torch, triton
import triton.language as tl


@triton.jit
def matmul_wide(a, b, c, m, n, k, stride_a, stride_b, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    column = tl.program_id(1).to(tl.int64) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, k, BK):
        inner = (step + tl.arange(0, BK)).to(tl.int64)
        x = tl.load(a + row[:, None] * stride_a + inner[None, :])
        y = tl.load(b + inner[:, None] * stride_b + column[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + row[:, None] * n + column[None, :], total.to(c.dtype.element_ty))


@triton.jit
def linear_wide(x, w, out, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    outs = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for turn in range(tl.cdiv(k, BK)):
        inner = turn * BK + tl.arange(0, BK)
        left = tl.load(x + rows[:, None].to(tl.int64) * k + inner[None, :].to(tl.int64))
        right = tl.load(w + outs[None, :].to(tl.int64) * k + inner[:, None].to(tl.int64))
        total += tl.dot(left, right)
    value = total * tl.sigmoid(total)
    tl.store(out + rows[:, None] * n + outs[None, :], value.to(out.dtype.element_ty))


@triton.jit
def batched_wide(a, b, c, size, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    start = tl.program_id(2).to(tl.int64) * size * size
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, size, BK):
        inner = step + tl.arange(0, BK).to(tl.int64)
        x = tl.load(a + start + row[:, None] * size + inner[None, :])
        y = tl.load(b + start + inner[:, None] * size + column[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + start + row[:, None] * size + column[None, :], total.to(c.dtype.element_ty))


@triton.jit
def attention_wide(q, k, v, out, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) * length
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    lanes = tl.arange(0, D)
    query = tl.load(q + (head + rows)[:, None] * D + lanes[None, :])
    total = tl.zeros((BM, D), tl.float32)
    highest = tl.full((BM,), -float("inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    for start in range(0, length, BN):
        keys = (head + start + tl.arange(0, BN)).to(tl.int64)
        key = tl.load(k + keys[None, :] * D + lanes[:, None])
        score = tl.dot(query, key) * scale
        new = tl.maximum(highest, tl.max(score, 1))
        share = tl.exp2(score - new[:, None])
        factor = tl.exp2(highest - new)
        weight = weight * factor + tl.sum(share, 1)
        value = tl.load(v + keys[:, None] * D + lanes[None, :])
        total = tl.dot(share.to(value.dtype), value, total * factor[:, None])
        highest = new
    tl.store(
        out + (head + rows)[:, None] * D + lanes[None, :], (total / weight[:, None]).to(q.dtype.element_ty)
    )


def run(kernel, size, bm, bn, bk, dtype=torch.float16, **options):
    a, b, c = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(3))
    grid = (size // bm, size // bn)
    if kernel is matmul_wide:
        kernel[grid](a, b, c, size, size, size, a.stride(0), b.stride(0), BM=bm, BN=bn, BK=bk, **options)
    else:
        kernel[grid[::-1]](a, b, c, size, size, size, BM=bm, BN=bn, BK=bk, **options)


run(matmul_wide, 4096, 128, 128, 64, num_warps=8)
run(matmul_wide, 4096, 64, 64, 64, num_warps=4)
run(matmul_wide, 8192, 128, 64, 32, torch.bfloat16, num_warps=4)
run(linear_wide, 4096, 128, 128, 64, num_warps=8)
run(linear_wide, 2048, 64, 64, 32, torch.bfloat16, num_warps=4)
a, b, c = (torch.randn(16, 1024, 1024, device="cuda", dtype=torch.float16) for _ in range(3))
batched_wide[(8, 8, 16)](a, b, c, 1024, BM=128, BN=128, BK=32, num_warps=4)
batched_wide[(16, 16, 16)](a, b, c, 1024, BM=64, BN=64, BK=64, num_warps=4)
q, k, v, out = (torch.randn(32, 4096, 64, device="cuda", dtype=torch.float16) for _ in range(4))
attention_wide[(64, 32)](q, k, v, out, 4096, 0.18, BM=64, BN=32, D=64, num_warps=4)
attention_wide[(32, 32)](q, k, v, out, 4096, 0.18, BM=128, BN=64, D=64, num_warps=8)
