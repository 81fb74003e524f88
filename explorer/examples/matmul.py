"""Matrix multiplication, autotuned

C = A × B on tensor cores: each program computes one tile of C, and steps along K while the next tiles of
A and B are already on their way into shared memory (software pipelining, `num_stages`). Programs run in
groups of `GROUP_M` tile rows, so that neighbours in time share tiles of B in the L2 cache. The autotuner
times every configuration for the given sizes and keeps the fastest.

Sizes: 2048 × 2048 times 2048 × 2048, fp16 in and out, accumulated in fp32.
"""

import torch
import triton
import triton.language as tl


def config(block_m, block_n, block_k, num_warps, num_stages):
    blocks = {"BLOCK_M": block_m, "BLOCK_N": block_n, "BLOCK_K": block_k, "GROUP_M": 8}
    return triton.Config(blocks, num_warps=num_warps, num_stages=num_stages)


@triton.autotune(
    configs=[
        config(128, 128, 64, num_warps=8, num_stages=3),
        config(128, 128, 32, num_warps=4, num_stages=3),
        config(128, 256, 64, num_warps=8, num_stages=3),
        config(128, 256, 64, num_warps=8, num_stages=4),
        config(128, 256, 32, num_warps=8, num_stages=3),
        config(64, 128, 64, num_warps=4, num_stages=4),
        config(64, 64, 64, num_warps=4, num_stages=2),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    tile_m, tile_n = grouped_tile(tl.program_id(axis=0), M, N, BLOCK_M, BLOCK_N, GROUP_M)

    # Rows and columns past the end wrap around: what they compute is never stored, and the loads in the
    # loop need a mask along K only.
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    depth = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + rows[:, None] * stride_am + depth[None, :] * stride_ak
    b_ptrs = b_ptr + depth[:, None] * stride_bk + columns[None, :] * stride_bn

    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=depth[None, :] < K - k, other=0.0)
        b = tl.load(b_ptrs, mask=depth[:, None] < K - k, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=mask)


@triton.jit
def grouped_tile(program, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Walk the tiles of C column by column inside bands of GROUP_M tile rows."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    programs_per_band = GROUP_M * tiles_n
    first_tile_m = program // programs_per_band * GROUP_M
    band_height = min(tiles_m - first_tile_m, GROUP_M)
    tile_m = first_tile_m + program % programs_per_band % band_height
    tile_n = program % programs_per_band // band_height
    return tile_m, tile_n


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    assert a.shape[1] == b.shape[0], "the inner dimensions must agree"
    M, K = a.shape
    _, N = b.shape
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)

    def grid(meta):
        return (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)

    matmul_kernel[grid](
        a, b, c, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1)
    )
    return c


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a.float() @ b.float()).to(a.dtype)


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["size"],
        x_vals=[512, 1024, 2048, 4096, 8192],
        x_log=True,
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="TFLOP/s",
        plot_name="matmul",
        args={},
    )
)
def benchmark(size: int, provider: str) -> float:
    a = torch.randn(size, size, device="cuda", dtype=torch.float16)
    b = torch.randn_like(a)
    run = {"triton": lambda: matmul(a, b), "torch": lambda: a @ b}[provider]
    milliseconds = triton.testing.do_bench(run)
    return 2 * size**3 / milliseconds / 1e9


if __name__ == "__main__":
    torch.manual_seed(0)
    a = torch.randn(2048, 2048, device="cuda", dtype=torch.float16)
    b = torch.randn(2048, 2048, device="cuda", dtype=torch.float16)

    c = matmul(a, b)

    torch.testing.assert_close(c, reference(a, b), rtol=1e-2, atol=1e-1)
    print("matmul: matches torch")
