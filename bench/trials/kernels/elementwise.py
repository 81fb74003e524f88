import torch, triton
import triton.language as tl


@triton.jit
def gelu(x, y, n, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offset, mask=offset < n).to(tl.float32)
    result = 0.5 * value * (1 + tl.erf(value * 0.70710678))
    tl.store(y + offset, result, mask=offset < n)


@triton.jit
def add(x, y, z, n, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(
        z + offset,
        tl.load(x + offset, mask=offset < n) + tl.load(y + offset, mask=offset < n),
        mask=offset < n,
    )


@triton.jit
def quantize(x, y, scale, n, BLOCK: tl.constexpr):
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offset, mask=offset < n).to(tl.float32) / tl.load(scale)
    tl.store(y + offset, tl.clamp(value, -128.0, 127.0).to(tl.int8), mask=offset < n)


@triton.jit
def column_sum(x, y, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    column = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    total = tl.zeros((BLOCK_C,), tl.float32)
    for start in range(0, rows, BLOCK_R):
        row = start + tl.arange(0, BLOCK_R)
        block = tl.load(
            x + row[:, None] * columns + column[None, :], mask=column[None, :] < columns, other=0.0
        )
        total += tl.sum(block.to(tl.float32), 0)
    tl.store(y + column, total, mask=column < columns)


@triton.jit
def dot_rows(x, v, y, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    row = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    total = tl.zeros((BLOCK_R,), tl.float32)
    for start in range(0, columns, BLOCK_C):
        column = start + tl.arange(0, BLOCK_C)
        block = tl.load(x + row[:, None] * columns + column[None, :]).to(tl.float32)
        total += tl.sum(block * tl.load(v + column)[None, :].to(tl.float32), 1)
    tl.store(y + row, total)


n = 1 << 26


def run(kernel, dtype, block, out=None, more=(), **options):
    x = torch.randn(n, device="cuda").to(dtype)
    y = torch.empty(n, device="cuda", dtype=out or dtype)
    tensors = (x, x) if kernel is add else (x,)
    kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](*tensors, y, *more, n, BLOCK=block, **options)


def run_columns(rows, columns, dtype, br, bc, **options):
    x = torch.randn(rows, columns, device="cuda").to(dtype)
    y = torch.empty(columns, device="cuda")
    column_sum[lambda meta: (triton.cdiv(columns, meta["BLOCK_C"]),)](
        x, y, rows, columns, BLOCK_R=br, BLOCK_C=bc, **options
    )


def run_rows(rows, columns, dtype, br, bc, **options):
    x = torch.randn(rows, columns, device="cuda").to(dtype)
    v, y = torch.randn(columns, device="cuda").to(dtype), torch.empty(rows, device="cuda")
    dot_rows[lambda meta: (triton.cdiv(rows, meta["BLOCK_R"]),)](
        x, v, y, columns, BLOCK_R=br, BLOCK_C=bc, **options
    )


run(gelu, torch.float16, 256, num_warps=8)
run(gelu, torch.bfloat16, 1024, num_warps=8)
run(gelu, torch.float16, 128, num_warps=4)
run(add, torch.float32, 128, num_warps=4)
run(add, torch.float16, 512, num_warps=4)
run(add, torch.float16, 131072, num_warps=4)
run(quantize, torch.float32, 512, torch.int8, (torch.ones(1, device="cuda"),), num_warps=4)
run(gelu, torch.float16, 65536, num_warps=4)
run_columns(8192, 8192, torch.float16, 32, 128, num_warps=4)
run_columns(8192, 8192, torch.float32, 16, 64, num_warps=8)
run_columns(16384, 2048, torch.float16, 64, 64, num_warps=4)
run_rows(8192, 8192, torch.float16, 64, 128, num_warps=4)
