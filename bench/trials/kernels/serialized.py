"""Products whose left operand stays in registers, with few warps for their tiles."""

import torch
import triton
import triton.language as tl


@triton.jit
def attend(q_ptr, k_ptr, v_ptr, o_ptr, T, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    base = tl.program_id(1) * T * D
    q = tl.load(q_ptr + base + rows[:, None] * D + d[None, :])
    most = tl.full((BM,), -1e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, T, BN):
        keys = start + tl.arange(0, BN)
        k = tl.load(k_ptr + base + keys[:, None] * D + d[None, :])
        s = tl.dot(q, tl.trans(k)) * scale
        new = tl.maximum(most, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        old = tl.exp(most - new)
        total = total * old + tl.sum(p, 1)
        v = tl.load(v_ptr + base + keys[:, None] * D + d[None, :])
        acc = acc * old[:, None] + tl.dot(p.to(v.dtype), v)
        most = new
    tl.store(o_ptr + base + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(q.dtype))


@triton.jit
def two_layers(x_ptr, u_ptr, w_ptr, y_ptr, F, BM: tl.constexpr, BF: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + rows[:, None] * D + d[None, :])
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, F, BF):
        f = start + tl.arange(0, BF)
        u = tl.load(u_ptr + d[:, None] * F + f[None, :])
        h = tl.maximum(tl.dot(x, u), 0.0)
        w = tl.load(w_ptr + f[:, None] * D + d[None, :])
        acc += tl.dot(h.to(w.dtype), w)
    tl.store(y_ptr + rows[:, None] * D + d[None, :], acc.to(x.dtype))


def on_gpu(*shape, dtype=torch.float16):
    return torch.randn(*shape, device="cuda", dtype=dtype) * 0.1


H, T = 64, 2048
for D, BM, BN, dtype, warps, stages in (
    (128, 128, 128, torch.float16, 4, 2),
    (128, 128, 128, torch.bfloat16, 4, 1),
    (64, 128, 128, torch.float16, 4, 2),
    (64, 128, 128, torch.bfloat16, 4, 3),
    (128, 256, 128, torch.float16, 8, 2),
    (64, 256, 128, torch.bfloat16, 8, 3),
):
    q, k, v = (on_gpu(H, T, D, dtype=dtype) for _ in range(3))
    attend[lambda meta: (triton.cdiv(T, meta["BM"]), H)](
        q, k, v, torch.empty_like(q), T, 0.1, BM=BM, BN=BN, D=D, num_warps=warps, num_stages=stages
    )
N, F = 32768, 2048
for D, BM, BF, stages in ((128, 128, 128, 2), (128, 128, 128, 1), (64, 128, 128, 2), (64, 128, 256, 2)):
    x, u, w = on_gpu(N, D), on_gpu(D, F), on_gpu(F, D)
    two_layers[lambda meta: (triton.cdiv(N, meta["BM"]),)](
        x, u, w, torch.empty_like(x), F, BM=BM, BF=BF, D=D, num_warps=4, num_stages=stages
    )
