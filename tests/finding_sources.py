"""Sources with findings, and their changes."""

PRODUCT = """import torch
import triton
import triton.language as tl

@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK):
        x = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        y = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc)

a = torch.empty((4096, 4096), device="cuda", dtype=torch.float16)
b = torch.empty((4096, 4096), device="cuda", dtype=torch.float16)
c = torch.empty((4096, 4096), device="cuda")
grid = lambda meta: (4096 // meta["BM"], 4096 // meta["BN"])
product[grid](a, b, c, 4096, 4096, 4096, BM=64, BN=64, BK=64, num_warps=4)
"""


LARGE = {"BM=64, BN=64": "BM=256, BN=256"}


SMALL_TYPE = {"dtype=torch.float16": "dtype=torch.float32"}


ADD = """import torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask)
    tl.store(out + offsets, total, mask=mask)

x = torch.empty(1 << 20, device="cuda")
add[(1024,)](x, x, x, 1 << 20, BLOCK=1024)
"""


#: The offsets of ADD, if each program takes every n-th element.
APART = "tl.program_id(0) + tl.arange(0, BLOCK) * tl.num_programs(0)"


ROWS = """import torch
import triton
import triton.language as tl

@triton.jit
def rows(x, out, columns, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in tl.range(0, columns, BLOCK):
        total += tl.load(x + tl.program_id(0) * columns + start + offsets)
    tl.store(out + tl.program_id(0), tl.sum(total))

x = torch.empty((4096, 4096), device="cuda")
rows[(4096,)](x, x, 4096, BLOCK=1024)
"""


#: A transposition by one index, which is divided in 64 bits.
TRANSPOSED = """import torch
import triton
import triton.language as tl

@triton.jit
def transposed(x, out, rows, columns, turns, BLOCK: tl.constexpr):
    for turn in range(turns):
        at = (tl.program_id(0) * turns + turn).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        row = at // columns
        column = at % columns
        tl.store(out + column * rows + row, tl.load(x + at))

x = torch.empty((1024, 1000), device="cuda")
transposed[(250,)](x, x, 1024, 1000, 4, BLOCK=1024)
"""


#: An autotuned product, whose configurations are chosen by one of its three sizes.
TUNED = """import torch
import triton
import triton.language as tl

@triton.autotune(
    configs=[triton.Config({"BM": 64, "BN": 64, "BK": size}, num_warps=4) for size in (32, 64)],
    key=["M"],
)
""" + PRODUCT[PRODUCT.index("@triton.jit") :].replace(", BM=64, BN=64, BK=64, num_warps=4", "")


def changed(source: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in source
        source = source.replace(old, new)
    return source


#: Products of fp32 without tensor cores, and sums of fp64.
FP32_PRODUCT = changed(
    PRODUCT, {**SMALL_TYPE, "tl.dot(x, y, acc)": 'tl.dot(x, y, acc, input_precision="ieee")'}
)
FP64_SUM = changed(ADD, {"total = ": "total = tl.full((BLOCK,), 1.0, tl.float64) * "})


#: A product whose left operand stays in registers: a warp group holds all of a tile that is too large for it.
TWO_LAYERS = """import torch
import triton
import triton.language as tl

@triton.jit
def layers(x, u, w, y, F, BM: tl.constexpr, BF: tl.constexpr, D: tl.constexpr):
    rows, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    first = tl.load(x + rows[:, None] * D + d[None, :])
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, F, BF):
        f = start + tl.arange(0, BF)
        h = tl.maximum(tl.dot(first, tl.load(u + d[:, None] * F + f[None, :])), 0.0)
        acc += tl.dot(h.to(tl.float16), tl.load(w + f[:, None] * D + d[None, :]))
    tl.store(y + rows[:, None] * D + d[None, :], acc)

x = torch.empty((32768, 128), device="cuda", dtype=torch.float16)
u = torch.empty((128, 2048), device="cuda", dtype=torch.float16)
y = torch.empty((32768, 128), device="cuda")
grid = lambda meta: (32768 // meta["BM"],)
layers[grid](x, u, u, y, 2048, BM=128, BF=128, D=128, num_warps=4, num_stages=2)
"""
