import torch, triton
import triton.language as tl


@triton.jit
def rope(x, cosines, sines, y, length, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    half = tl.arange(0, SIZE // 2)
    place = row % length
    c = tl.load(cosines + place[:, None] * (SIZE // 2) + half[None, :])
    s = tl.load(sines + place[:, None] * (SIZE // 2) + half[None, :])
    a = tl.load(x + row[:, None] * SIZE + half[None, :]).to(tl.float32)
    b = tl.load(x + row[:, None] * SIZE + SIZE // 2 + half[None, :]).to(tl.float32)
    tl.store(y + row[:, None] * SIZE + half[None, :], a * c - b * s)
    tl.store(y + row[:, None] * SIZE + SIZE // 2 + half[None, :], b * c + a * s)


@triton.jit
def row_max(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    for start in range(0, columns, BLOCK):
        most = tl.maximum(most, tl.load(x + row * columns + start + tl.arange(0, BLOCK)).to(tl.float32))
    tl.store(y + row, tl.max(most, 0))


@triton.jit
def scale_columns(x, s, y, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    value = tl.load(x + row[:, None] * n + column[None, :])
    tl.store(y + row[:, None] * n + column[None, :], value * tl.load(s + column)[None, :])


@triton.jit
def gather(table, index, y, n, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.arange(0, SIZE)
    place = tl.load(index + row)
    tl.store(
        y + row[:, None] * SIZE + column[None, :], tl.load(table + place[:, None] * SIZE + column[None, :])
    )


@triton.jit
def split_sum(x, y, n, BLOCK: tl.constexpr, TURNS: tl.constexpr):
    first = tl.program_id(0) * BLOCK * TURNS
    total = tl.zeros((BLOCK,), tl.float32)
    for turn in range(TURNS):
        total += tl.load(x + first + turn * BLOCK + tl.arange(0, BLOCK)).to(tl.float32)
    tl.atomic_add(y, tl.sum(total, 0))


def run_rope(rows, size, block, dtype, **options):
    x = torch.randn(rows, size, device="cuda").to(dtype)
    c, s = (torch.randn(2048, size // 2, device="cuda") for _ in range(2))
    rope[lambda meta: (triton.cdiv(rows, meta["BLOCK"]),)](
        x, c, s, torch.empty_like(x), 2048, SIZE=size, BLOCK=block, **options
    )


def run_max(rows, columns, block, dtype, **options):
    x = torch.randn(rows, columns, device="cuda").to(dtype)
    row_max[(rows,)](x, torch.empty(rows, device="cuda"), columns, BLOCK=block, **options)


def run_scale(m, n, bm, bn, dtype, **options):
    x, s = torch.randn(m, n, device="cuda").to(dtype), torch.randn(n, device="cuda").to(dtype)
    scale_columns[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]), triton.cdiv(n, meta["BLOCK_N"]))](
        x, s, torch.empty_like(x), m, n, BLOCK_M=bm, BLOCK_N=bn, **options
    )


def run_gather(rows, size, block, dtype, **options):
    table = torch.randn(50000, size, device="cuda").to(dtype)
    index = torch.randint(0, 50000, (rows,), device="cuda")
    gather[lambda meta: (triton.cdiv(rows, meta["BLOCK"]),)](
        table,
        index,
        torch.empty(rows, size, device="cuda", dtype=dtype),
        rows,
        SIZE=size,
        BLOCK=block,
        **options,
    )


run_rope(1 << 18, 128, 4, torch.float16, num_warps=4)
run_rope(1 << 18, 64, 8, torch.bfloat16, num_warps=8)
run_max(8192, 16384, 256, torch.float16, num_warps=4)
run_max(8192, 16384, 1024, torch.float32, num_warps=8)
run_max(2048, 65536, 2048, torch.bfloat16, num_warps=4)
run_scale(16384, 8192, 4, 128, torch.float16, num_warps=4)
run_scale(16384, 8192, 1, 512, torch.bfloat16, num_warps=8)
run_scale(16384, 8192, 64, 256, torch.float32, num_warps=1)
run_gather(1 << 17, 128, 4, torch.float16, num_warps=8)
run_gather(1 << 17, 256, 64, torch.float32, num_warps=1)
split_sum[(1024,)](
    torch.randn(1 << 26, device="cuda", dtype=torch.float16),
    torch.zeros(1, device="cuda"),
    1 << 26,
    BLOCK=1024,
    TURNS=64,
    num_warps=4,
)
