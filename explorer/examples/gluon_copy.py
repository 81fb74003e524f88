"""A copy in Gluon, with explicit layouts

Gluon is the language beneath Triton: the compiler no longer chooses how a block is spread over threads,
the kernel says it. Here each thread holds 8 neighbouring elements of a row, 16 bytes in fp16, the widest
load most GPUs have; 32 lanes side by side cover a row of the block, 512 bytes, and the warps are stacked
downwards. The offsets of rows and columns live in slices of that layout. No pass is left that could
change it: compare the pass list with that of a Triton kernel.

Sizes: 4096 × 4096, fp16.
"""

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def copy_kernel(
    source_ptr,
    target_ptr,
    n_rows,
    n_columns,
    row_stride,
    BLOCK_ROWS: gl.constexpr,
    BLOCK_COLUMNS: gl.constexpr,
    WARP_SIZE: gl.constexpr,
):
    layout: gl.constexpr = gl.BlockedLayout(
        size_per_thread=[1, 8],
        threads_per_warp=[WARP_SIZE // 32, 32],
        warps_per_cta=[gl.num_warps(), 1],
        order=[1, 0],
    )
    first_row = gl.program_id(axis=0) * BLOCK_ROWS
    first_column = gl.program_id(axis=1) * BLOCK_COLUMNS
    rows = first_row + gl.arange(0, BLOCK_ROWS, layout=gl.SliceLayout(1, layout))
    columns = first_column + gl.arange(0, BLOCK_COLUMNS, layout=gl.SliceLayout(0, layout))

    offsets = rows[:, None] * row_stride + columns[None, :]
    mask = (rows[:, None] < n_rows) & (columns[None, :] < n_columns)
    block = gl.load(source_ptr + offsets, mask=mask)
    gl.store(target_ptr + offsets, block, mask=mask)


def copy(source: torch.Tensor, warp_size: int) -> torch.Tensor:
    assert source.is_contiguous()
    target = torch.empty_like(source)
    n_rows, n_columns = source.shape
    block_rows, block_columns = 16, 256
    grid = (triton.cdiv(n_rows, block_rows), triton.cdiv(n_columns, block_columns))
    copy_kernel[grid](
        source,
        target,
        n_rows,
        n_columns,
        source.stride(0),
        BLOCK_ROWS=block_rows,
        BLOCK_COLUMNS=block_columns,
        WARP_SIZE=warp_size,
        num_warps=4,
    )
    return target


def reference(source: torch.Tensor) -> torch.Tensor:
    return source.clone()


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["rows"],
        x_vals=[2**power for power in range(8, 18, 2)],
        x_log=True,
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="GB/s",
        plot_name="gluon-copy",
        args={},
    )
)
def benchmark(rows: int, provider: str) -> float:
    source = torch.randn(rows, 4096, device="cuda", dtype=torch.float16)
    warp_size = triton.runtime.driver.active.get_current_target().warp_size
    run = {"triton": lambda: copy(source, warp_size), "torch": lambda: source.clone()}[provider]
    milliseconds = triton.testing.do_bench(run)
    return 2 * source.numel() * source.element_size() / milliseconds / 1e6


if __name__ == "__main__":
    torch.manual_seed(0)
    source = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
    warp_size = triton.runtime.driver.active.get_current_target().warp_size

    target = copy(source, warp_size)

    torch.testing.assert_close(target, reference(source), rtol=0, atol=0)
    print("gluon_copy: matches torch")
