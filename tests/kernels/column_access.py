"""A tile written to shared memory by rows and read by columns: all lanes of a warp access one bank."""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def column_access(x_ptr, y_ptr):
    by_rows: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
    by_columns: gl.constexpr = gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1])
    plain: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    rows = gl.arange(0, 32, gl.SliceLayout(1, by_rows))
    columns = gl.arange(0, 32, gl.SliceLayout(0, by_rows))
    x = gl.load(x_ptr + rows[:, None] * 32 + columns[None, :])
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], plain)
    tile.store(x)
    y = tile.load(by_columns)
    rows = gl.arange(0, 32, gl.SliceLayout(1, by_columns))
    columns = gl.arange(0, 32, gl.SliceLayout(0, by_columns))
    gl.store(y_ptr + columns[None, :] * 32 + rows[:, None], y)


x = torch.randn((32, 32), device="cuda")
column_access[(1,)](x, torch.empty_like(x), num_warps=4)
