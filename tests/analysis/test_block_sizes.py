"""Test which constexprs cut the work of a kernel into blocks."""

import pytest

from explorer.analysis.block_sizes import BlockUse, block_uses

MATMUL = """
@triton.jit
def matmul(a, b, M, N, K, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SIZE: tl.constexpr):
    pid = tl.program_id(0)
    pid_m, pid_n = pid // tl.cdiv(N, BN), pid % tl.cdiv(N, BN)
    rm = pid_m * BM + tl.arange(0, BM)
    rn = BN * pid_n + tl.arange(0, BN)
    base = a + rm[:, None] * SIZE + tl.program_id(1) * stride * SIZE
    for step in range(0, tl.cdiv(K, BK)):
        x = tl.load(base + step * BK + tl.arange(0, BK))
"""
PERSISTENT = """
def persistent(a, M, BM: tl.constexpr, SMS: tl.constexpr):
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM), SMS):
        rm = tile * BM + tl.arange(0, BM)
"""
ROWS = """
def rows(x, n, BLOCK: tl.constexpr, STEP: tl.constexpr):
    row = tl.program_id(0)
    x += row * n
    for start in range(0, n, STEP):
        y = tl.load(x + start + tl.arange(0, STEP))
    z = tl.load(x + tl.arange(0, BLOCK))
"""


def test_sizes_by_grid_and_by_loop():
    found = block_uses(MATMUL, "matmul")
    assert found["BM"] == BlockUse(by_grid=True, by_loop=False)
    assert found["BN"] == BlockUse(by_grid=True, by_loop=True)
    assert found["BK"] == BlockUse(by_grid=False, by_loop=True)
    assert found["SIZE"] == BlockUse(by_grid=False, by_loop=False), "it is a stride"
    assert found["M"] == BlockUse(by_grid=False, by_loop=False)


def test_a_loop_over_tiles_needs_no_other_grid():
    assert block_uses(PERSISTENT, "persistent")["BM"] == BlockUse(by_grid=False, by_loop=True)


def test_a_function_of_the_source_returns_the_number_of_the_program():
    source = "def f(x, BT, n):\n    i, j = unflatten_program_id(n)\n    y = x + j * BT\n"
    assert block_uses(source, "f")["BT"] == BlockUse(by_grid=True, by_loop=False)


def test_the_size_of_a_whole_row_is_no_block():
    found = block_uses(ROWS, "rows")
    assert found["BLOCK"] == BlockUse(by_grid=False, by_loop=False)
    assert found["STEP"] == BlockUse(by_grid=False, by_loop=True)


@pytest.mark.parametrize("source", ["", "def other(x): pass", "def rows(:", "\0"])
def test_a_source_without_the_kernel_has_no_sizes(source):
    assert block_uses(source, "rows") == {}
