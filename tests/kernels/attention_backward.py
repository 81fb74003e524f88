"""The gradient of attention with respect to the queries: each program walks over the keys of one head.

Compiled for sm_90 it has asynchronous copies, waits, warp-group dots, and layout conversions.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def query_gradient(
    queries,
    keys,
    values,
    outputs_gradient,
    log_sums,
    row_terms,
    gradient,
    length,
    scale,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    first_row = tl.program_id(0) * ROWS
    head = tl.program_id(1) * length * WIDTH
    rows = first_row + tl.arange(0, ROWS)
    channels = tl.arange(0, WIDTH)
    row_offsets = head + rows[:, None] * WIDTH + channels[None, :]
    q = tl.load(queries + row_offsets)
    d_output = tl.load(outputs_gradient + row_offsets)
    log_sum = tl.load(log_sums + tl.program_id(1) * length + rows)
    row_term = tl.load(row_terms + tl.program_id(1) * length + rows)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(0, first_row + ROWS, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        column_offsets = head + columns[:, None] * WIDTH + channels[None, :]
        k = tl.load(keys + column_offsets)
        v = tl.load(values + column_offsets)
        scores = tl.dot(q, k.T) * scale
        p = tl.exp(scores - log_sum[:, None])
        p = tl.where(rows[:, None] >= columns[None, :], p, 0.0)
        dp = tl.dot(d_output, v.T)
        ds = (p * (dp - row_term[:, None]) * scale).to(tl.float16)
        total = tl.dot(ds, k, total)
    tl.store(gradient + row_offsets, total.to(tl.float16))


LENGTH, WIDTH, HEADS = 1024, 64, 8
q, k, v, do = (torch.randn((HEADS, LENGTH, WIDTH), device="cuda", dtype=torch.float16) for _ in range(4))
log_sums, row_terms = (torch.randn((HEADS, LENGTH), device="cuda") for _ in range(2))
query_gradient[(LENGTH // 64, HEADS)](
    q, k, v, do, log_sums, row_terms, torch.empty_like(q), LENGTH, 0.125, WIDTH, 64, 64, num_stages=2
)
