import torch, triton
import triton.language as tl


@triton.jit
def attention(q, k, v, o, scale, length, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, SIZE: tl.constexpr):
    start = tl.program_id(0) * BLOCK_M
    base = tl.program_id(1).to(tl.int64) * length * SIZE
    row, inner = start + tl.arange(0, BLOCK_M), tl.arange(0, SIZE)
    query = tl.load(q + base + row[:, None] * SIZE + inner[None, :])
    most = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    result = tl.zeros((BLOCK_M, SIZE), tl.float32)
    for first in range(0, length, BLOCK_N):
        column = first + tl.arange(0, BLOCK_N)
        key = tl.load(k + base + column[None, :] * SIZE + inner[:, None])
        score = tl.dot(query, key) * scale
        now = tl.maximum(most, tl.max(score, 1))
        weight = tl.exp2(score - now[:, None])
        factor = tl.exp2(most - now)
        total = total * factor + tl.sum(weight, 1)
        value = tl.load(v + base + column[:, None] * SIZE + inner[None, :])
        result = result * factor[:, None]
        result = tl.dot(weight.to(v.dtype.element_ty), value, result)
        most = now
    tl.store(
        o + base + row[:, None] * SIZE + inner[None, :], (result / total[:, None]).to(o.dtype.element_ty)
    )


def run(length, heads, size, bm, bn, dtype=torch.float16, **options):
    q, k, v = (torch.randn(heads, length, size, device="cuda", dtype=dtype) for _ in range(3))
    attention[lambda meta: (triton.cdiv(length, meta["BLOCK_M"]), heads)](
        q, k, v, torch.empty_like(q), 0.1, length, BLOCK_M=bm, BLOCK_N=bn, SIZE=size, **options
    )


run(4096, 32, 64, 128, 128, num_warps=4, num_stages=1)
run(4096, 32, 128, 128, 128, num_warps=4, num_stages=2)
run(4096, 32, 128, 256, 64, num_warps=4, num_stages=2)
run(4096, 32, 128, 128, 64, num_warps=8, num_stages=4)
run(2048, 16, 128, 128, 128, num_warps=8, num_stages=2)
run(4096, 16, 256, 128, 64, num_warps=4, num_stages=2)
run(1024, 8, 64, 128, 64, num_warps=4, num_stages=3)
run(4096, 32, 64, 64, 32, num_warps=4, num_stages=1)
