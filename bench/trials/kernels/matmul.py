import torch, triton
import triton.language as tl


@triton.jit
def matmul(
    a,
    b,
    c,
    m,
    n,
    k,
    stride_a,
    stride_b,
    stride_c,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for step in range(tl.cdiv(k, BLOCK_K)):
        x = tl.load(a + row[:, None] * stride_a + inner[None, :] + step * BLOCK_K)
        y = tl.load(b + (inner[:, None] + step * BLOCK_K) * stride_b + column[None, :])
        accumulator += tl.dot(x, y)
    tl.store(c + row[:, None] * stride_c + column[None, :], accumulator.to(c.dtype.element_ty))


def run(size, bm, bn, bk, dtype=torch.float16, **options):
    a, b = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
    c = torch.empty(size, size, device="cuda", dtype=dtype)
    grid = lambda meta: (triton.cdiv(size, meta["BLOCK_M"]), triton.cdiv(size, meta["BLOCK_N"]))
    matmul[grid](a, b, c, size, size, size, size, size, size, BLOCK_M=bm, BLOCK_N=bn, BLOCK_K=bk, **options)


run(4096, 128, 256, 64, num_warps=4, num_stages=3)
run(4096, 256, 128, 32, num_warps=4, num_stages=3)
run(4096, 256, 256, 64, num_warps=8, num_stages=3)
run(4096, 128, 128, 64, num_warps=4, num_stages=1)
run(4096, 128, 128, 32, num_warps=8, num_stages=1)
run(4096, 64, 64, 32, num_warps=4, num_stages=1)
run(4096, 128, 128, 128, num_warps=8, num_stages=3)
run(1024, 128, 256, 64, num_warps=8, num_stages=3)
run(2048, 256, 128, 64, num_warps=8, num_stages=3)
run(4096, 128, 128, 32, dtype=torch.float32, num_warps=4, num_stages=1)
run(4096, 256, 128, 32, dtype=torch.float32, num_warps=4, num_stages=2)
