"""Reduction through shared memory

The sum of each row of a matrix, by one program of 8 warps a row. `tl.sum` goes down three levels: each
thread adds what it holds in registers, the lanes of a warp exchange partial sums by shuffles, and the
warps meet in shared memory behind a barrier. The loop before it adds whole blocks element by element, so
that the expensive last two levels run once a row. The marked scopes time both parts in each warp.

Sizes: 1024 × 32768, fp32.
"""

import torch
import triton
import triton.language as tl
import triton.profiler.language as pl

pl.enable_semantic("triton")


@triton.jit
def row_sum_kernel(x_ptr, output_ptr, row_stride, n_columns, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(axis=0).to(tl.int64)
    columns = tl.arange(0, BLOCK_SIZE)
    partial = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    with pl.scope("add blocks"):
        for start in range(0, n_columns, BLOCK_SIZE):
            mask = start + columns < n_columns
            partial += tl.load(x_ptr + row * row_stride + start + columns, mask=mask, other=0.0)
    with pl.scope("sum of threads"):
        tl.store(output_ptr + row, tl.sum(partial, axis=0))


def row_sum(x: torch.Tensor) -> torch.Tensor:
    n_rows, n_columns = x.shape
    output = torch.empty(n_rows, device=x.device, dtype=torch.float32)
    row_sum_kernel[(n_rows,)](x, output, x.stride(0), n_columns, BLOCK_SIZE=4096, num_warps=8)
    return output


def reference(x: torch.Tensor) -> torch.Tensor:
    return x.double().sum(dim=1).float()


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["rows"],
        x_vals=[2**power for power in range(6, 16, 2)],
        x_log=True,
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="GB/s",
        plot_name="reduction",
        args={},
    )
)
def benchmark(rows: int, provider: str) -> float:
    x = torch.randn(rows, 32768, device="cuda", dtype=torch.float32)
    run = {"triton": lambda: row_sum(x), "torch": lambda: x.sum(dim=1)}[provider]
    milliseconds = triton.testing.do_bench(run)
    return x.numel() * x.element_size() / milliseconds / 1e6


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(1024, 32768, device="cuda", dtype=torch.float32)

    output = row_sum(x)

    torch.testing.assert_close(output, reference(x), rtol=1e-4, atol=1e-2)
    print("reduction: matches torch")
