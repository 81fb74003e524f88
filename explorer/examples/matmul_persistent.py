"""Persistent matrix multiplication, warp-specialised

As many programs as the GPU has multiprocessors, each working through its share of the tiles of C, so that
the loads of the next tile overlap the store of the last. Where the target can (sm_100),
`warp_specialize` splits the program: some warps only load, some only issue tensor core
instructions, the others write the result. The descriptors are made inside the kernel, in global memory
that the host provides through `triton.set_allocator`.

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
        config(128, 128, 64, num_warps=8, num_stages=4),
        config(128, 128, 64, num_warps=4, num_stages=3),
        config(128, 256, 64, num_warps=8, num_stages=3),
        config(128, 128, 32, num_warps=4, num_stages=3),
    ],
    key=["M", "N", "K", "WARP_SPECIALIZE"],
)
@triton.jit
def matmul_persistent_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    WARP_SPECIALIZE: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    a_descriptor = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_descriptor = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    c_descriptor = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])

    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    tiles_per_band = GROUP_M * tiles_n
    for tile in tl.range(
        tl.program_id(axis=0),
        tiles_m * tiles_n,
        tl.num_programs(axis=0),
        flatten=True,
        warp_specialize=WARP_SPECIALIZE,
    ):
        first_tile_m = tile // tiles_per_band * GROUP_M
        band_height = min(tiles_m - first_tile_m, GROUP_M)
        row = (first_tile_m + tile % tiles_per_band % band_height) * BLOCK_M
        column = tile % tiles_per_band // band_height * BLOCK_N

        accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            a = a_descriptor.load([row, k])
            b = b_descriptor.load([k, column])
            accumulator = tl.dot(a, b, accumulator)

        c_descriptor.store([row, column], accumulator.to(c_ptr.dtype.element_ty))


def matmul(a: torch.Tensor, b: torch.Tensor, max_programs: int, warp_specialize: bool) -> torch.Tensor:
    assert a.shape[1] == b.shape[0], "the inner dimensions must agree"
    assert a.is_contiguous() and b.is_contiguous()
    M, K = a.shape
    _, N = b.shape
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)

    def allocate(size, alignment, stream):
        return torch.empty(size, device=a.device, dtype=torch.int8)

    def grid(meta):
        return (min(max_programs, triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"])),)

    triton.set_allocator(allocate)
    matmul_persistent_kernel[grid](a, b, c, M, N, K, WARP_SPECIALIZE=warp_specialize)
    return c


def can_warp_specialize() -> bool:
    target = triton.runtime.driver.active.get_current_target()
    return target.backend == "cuda" and target.arch // 10 == 10


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
        plot_name="matmul-persistent",
        args={},
    )
)
def benchmark(size: int, provider: str) -> float:
    a = torch.randn(size, size, device="cuda", dtype=torch.float16)
    b = torch.randn_like(a)
    programs = torch.cuda.get_device_properties("cuda").multi_processor_count
    specialize = can_warp_specialize()
    run = {"triton": lambda: matmul(a, b, programs, specialize), "torch": lambda: a @ b}[provider]
    milliseconds = triton.testing.do_bench(run)
    return 2 * size**3 / milliseconds / 1e9


if __name__ == "__main__":
    torch.manual_seed(0)
    a = torch.randn(2048, 2048, device="cuda", dtype=torch.float16)
    b = torch.randn(2048, 2048, device="cuda", dtype=torch.float16)
    multiprocessors = torch.cuda.get_device_properties("cuda").multi_processor_count

    c = matmul(a, b, max_programs=multiprocessors, warp_specialize=can_warp_specialize())

    torch.testing.assert_close(c, reference(a, b), rtol=1e-2, atol=1e-1)
    print("matmul_persistent: matches torch")
