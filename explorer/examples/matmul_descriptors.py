"""Matrix multiplication through tensor descriptors

The same product as the pointer version, but the kernel never computes an address: a descriptor holds
base, shape and strides, and a whole tile is loaded or stored by its coordinates. From sm_90 on this is
the tensor memory accelerator (TMA): one thread asks for a tile, the hardware fills shared memory, clips
at the edges and signals a barrier. On other targets the compiler turns descriptors back into pointers
and masks.

Sizes: 2048 × 2048 times 2048 × 2048, fp16 in and out, accumulated in fp32.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def matmul_descriptor_kernel(
    a_descriptor,
    b_descriptor,
    c_descriptor,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    # Bands of GROUP_M tile rows, so that programs that run together share tiles in the L2 cache.
    program = tl.program_id(axis=0)
    programs_per_band = GROUP_M * tl.cdiv(N, BLOCK_N)
    first_tile_m = program // programs_per_band * GROUP_M
    band_height = min(tl.cdiv(M, BLOCK_M) - first_tile_m, GROUP_M)
    row = (first_tile_m + program % programs_per_band % band_height) * BLOCK_M
    column = program % programs_per_band // band_height * BLOCK_N

    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = a_descriptor.load([row, k])
        b = b_descriptor.load([k, column])
        accumulator = tl.dot(a, b, accumulator)

    c_descriptor.store([row, column], accumulator.to(c_descriptor.dtype))


def matmul(a: torch.Tensor, b: torch.Tensor, block_n: int) -> torch.Tensor:
    assert a.shape[1] == b.shape[0], "the inner dimensions must agree"
    M, K = a.shape
    _, N = b.shape
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    block_m, block_k = 128, 64
    grid = (triton.cdiv(M, block_m) * triton.cdiv(N, block_n),)
    matmul_descriptor_kernel[grid](
        TensorDescriptor.from_tensor(a, [block_m, block_k]),
        TensorDescriptor.from_tensor(b, [block_k, block_n]),
        TensorDescriptor.from_tensor(c, [block_m, block_n]),
        M,
        N,
        K,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        BLOCK_K=block_k,
        GROUP_M=8,
        num_warps=8,
        num_stages=3,
    )
    return c


def widest_block() -> int:
    # Wide tiles read less of A; those of 256 columns want more than 64 KiB of shared memory.
    device = torch.cuda.current_device()
    properties = triton.runtime.driver.active.utils.get_device_properties(device)
    return 256 if properties["max_shared_mem"] > 65536 else 128


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
        plot_name="matmul-descriptors",
        args={},
    )
)
def benchmark(size: int, provider: str) -> float:
    a = torch.randn(size, size, device="cuda", dtype=torch.float16)
    b = torch.randn_like(a)
    block_n = widest_block()
    run = {"triton": lambda: matmul(a, b, block_n), "torch": lambda: a @ b}[provider]
    milliseconds = triton.testing.do_bench(run)
    return 2 * size**3 / milliseconds / 1e9


if __name__ == "__main__":
    torch.manual_seed(0)
    a = torch.randn(2048, 2048, device="cuda", dtype=torch.float16)
    b = torch.randn(2048, 2048, device="cuda", dtype=torch.float16)

    c = matmul(a, b, block_n=widest_block())

    torch.testing.assert_close(c, reference(a, b), rtol=1e-2, atol=1e-1)
    print("matmul_descriptors: matches torch")
