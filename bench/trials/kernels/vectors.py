import torch, triton
import triton.language as tl


@triton.jit
def gemv(w, x, y, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, n, BLOCK_N):
        column = start + tl.arange(0, BLOCK_N)
        total += tl.load(w + row[:, None] * n + column[None, :]).to(tl.float32) * tl.load(x + column)[None, :]
    tl.store(y + row, tl.sum(total, 1))


@triton.jit
def cross_entropy(logits, labels, loss, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(
        logits + row.to(tl.int64) * columns + column, mask=column < columns, other=-float("inf")
    ).to(tl.float32)
    most = tl.max(value, 0)
    label = tl.load(labels + row)
    picked = tl.sum(tl.where(column == label, value, 0.0), 0)
    tl.store(loss + row, tl.log(tl.sum(tl.exp(value - most), 0)) + most - picked)


@triton.jit
def dequantized_matmul(
    a, q, scale, c, m, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    factor = tl.load(scale + column)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for step in range(0, k, BLOCK_K):
        x = tl.load(a + row[:, None] * k + step + inner[None, :])
        y = tl.load(q + (step + inner[:, None]) * n + column[None, :]).to(tl.float16)
        total = tl.dot(x, y, total)
    tl.store(c + row[:, None] * n + column[None, :], (total * factor[None, :]).to(tl.float16))


@triton.jit
def scan(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + column)
    tl.store(y + row * columns + column, tl.cumsum(value, 0))


@triton.jit
def transpose(x, y, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(y + column[None, :] * m + row[:, None], tl.load(x + row[:, None] * n + column[None, :]))


def run_gemv(m, n, bm, bn, **options):
    w, x, y = (
        torch.randn(m, n, device="cuda", dtype=torch.float16),
        torch.randn(n, device="cuda"),
        torch.empty(m, device="cuda"),
    )
    gemv[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]),)](w, x, y, m, n, BLOCK_M=bm, BLOCK_N=bn, **options)


def run_cross_entropy(rows, columns, **options):
    logits = torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)
    labels = torch.randint(0, columns, (rows,), device="cuda")
    cross_entropy[(rows,)](
        logits,
        labels,
        torch.empty(rows, device="cuda"),
        columns,
        BLOCK=triton.next_power_of_2(columns),
        **options,
    )


def run_dequantized(m, n, k, bm, bn, bk, **options):
    a, q = (
        torch.randn(m, k, device="cuda", dtype=torch.float16),
        torch.randint(-128, 127, (k, n), device="cuda", dtype=torch.int8),
    )
    c, scale = torch.empty(m, n, device="cuda", dtype=torch.float16), torch.rand(n, device="cuda")
    dequantized_matmul[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]), triton.cdiv(n, meta["BLOCK_N"]))](
        a, q, scale, c, m, n, k, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, **options
    )


def run_scan(rows, columns, **options):
    x = torch.randn(rows, columns, device="cuda")
    scan[(rows,)](x, torch.empty_like(x), columns, BLOCK=columns, **options)


def run_transpose(m, n, bm, bn, **options):
    x = torch.randn(m, n, device="cuda", dtype=torch.float16)
    transpose[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]), triton.cdiv(n, meta["BLOCK_N"]))](
        x, torch.empty(n, m, device="cuda", dtype=torch.float16), m, n, BLOCK_M=bm, BLOCK_N=bn, **options
    )


run_gemv(8192, 8192, 128, 128, num_warps=4)
run_gemv(4096, 16384, 64, 64, num_warps=8)
run_gemv(8192, 8192, 256, 256, num_warps=4)
run_cross_entropy(4096, 32000, num_warps=4)
run_cross_entropy(4096, 128000, num_warps=4)
run_dequantized(4096, 4096, 4096, 128, 128, 64, num_warps=4, num_stages=1)
run_dequantized(64, 8192, 8192, 64, 128, 64, num_warps=4, num_stages=2)
run_dequantized(4096, 4096, 4096, 256, 256, 64, num_warps=8, num_stages=2)
run_scan(8192, 16384, num_warps=2)
run_scan(8192, 8192, num_warps=16)
run_transpose(8192, 8192, 128, 128, num_warps=4)
run_transpose(8192, 8192, 256, 128, num_warps=4)
