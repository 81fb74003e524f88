import torch, triton
import triton.language as tl


@triton.jit
def scale(x, y, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) + tl.arange(0, BLOCK) * tl.num_programs(0)
    mask = offsets < n
    tl.store(y + offsets, tl.load(x + offsets, mask=mask) * factor, mask=mask)


@triton.jit
def add(x, y, out, n, programs, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    offsets = program + programs * lanes
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def row_sum(x, y, columns, turns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for turn in range(turns):
        column = tl.arange(0, BLOCK) * turns + turn
        total += tl.load(x + row * columns + column, mask=column < columns, other=0.0)
    tl.store(y + row, tl.sum(total))


@triton.jit
def row_norm(x, y, columns, eps, turns: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0) * columns
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for turn in range(turns):
        value = tl.load(x + start + turn + lanes * turns).to(tl.float32)
        total += value * value
    factor = 1 / tl.sqrt(tl.sum(total) / columns + eps)
    for turn in range(turns):
        value = tl.load(x + start + turn + lanes * turns).to(tl.float32)
        tl.store(y + start + turn + lanes * turns, value * factor)


@triton.jit
def gelu(x, y, n, BLOCK: tl.constexpr):
    base = tl.program_id(0) * BLOCK * 8
    lanes = tl.arange(0, BLOCK)
    for turn in tl.static_range(8):
        offsets = base + turn + lanes * 8
        value = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
        value = 0.5 * value * (1 + tl.erf(value * 0.70710678))
        tl.store(y + offsets, value, mask=offsets < n)


n = 1 << 25
for dtype in (torch.float32, torch.float16):
    x, y = (torch.randn(n, device="cuda", dtype=dtype) for _ in range(2))
    scale[(triton.cdiv(n, 1024),)](x, y, n, 2.0, BLOCK=1024)
    add[(triton.cdiv(n, 2048),)](x, y, torch.empty_like(x), n, triton.cdiv(n, 2048), BLOCK=2048)
    row_sum[(4096,)](x, torch.empty(4096, device="cuda"), 8192, 8, BLOCK=1024)
    row_norm[(4096,)](x, y, 8192, 1e-6, turns=4, BLOCK=2048, num_warps=8)
    gelu[(triton.cdiv(n, 8192),)](x, y, n, BLOCK=1024)
