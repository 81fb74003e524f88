"""Two copies: coalesced and strided

Both kernels copy the same array with the same number of programs. In the first, neighbouring threads
touch neighbouring elements: a warp's loads merge into a few wide transactions. In the second they touch
elements that lie one grid apart: every element costs a transaction of its own, and most of each one is
thrown away. Compare the width of the loads and stores in the two results.

Sizes: 4,194,304 elements, fp32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_coalesced_kernel(source_ptr, target_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    tl.store(target_ptr + offsets, tl.load(source_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def copy_strided_kernel(source_ptr, target_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) + tl.arange(0, BLOCK_SIZE) * tl.num_programs(axis=0)
    mask = offsets < n_elements
    tl.store(target_ptr + offsets, tl.load(source_ptr + offsets, mask=mask), mask=mask)


def copy_coalesced(source: torch.Tensor) -> torch.Tensor:
    target = torch.empty_like(source)
    n_elements = source.numel()
    grid = (triton.cdiv(n_elements, 1024),)
    copy_coalesced_kernel[grid](source, target, n_elements, BLOCK_SIZE=1024)
    return target


def copy_strided(source: torch.Tensor) -> torch.Tensor:
    target = torch.empty_like(source)
    n_elements = source.numel()
    grid = (triton.cdiv(n_elements, 1024),)
    copy_strided_kernel[grid](source, target, n_elements, BLOCK_SIZE=1024)
    return target


def reference(source: torch.Tensor) -> torch.Tensor:
    return source.clone()


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["size"],
        x_vals=[2**power for power in range(16, 29, 2)],
        x_log=True,
        line_arg="provider",
        line_vals=["coalesced", "strided", "torch"],
        line_names=["Coalesced", "Strided", "PyTorch"],
        ylabel="GB/s",
        plot_name="copy-coalesced-strided",
        args={},
    )
)
def benchmark(size: int, provider: str) -> float:
    source = torch.randn(size, device="cuda", dtype=torch.float32)
    run = {
        "coalesced": lambda: copy_coalesced(source),
        "strided": lambda: copy_strided(source),
        "torch": lambda: source.clone(),
    }[provider]
    milliseconds = triton.testing.do_bench(run)
    return 2 * source.numel() * source.element_size() / milliseconds / 1e6


if __name__ == "__main__":
    torch.manual_seed(0)
    source = torch.randn(4_194_304, device="cuda", dtype=torch.float32)

    coalesced = copy_coalesced(source)
    strided = copy_strided(source)

    torch.testing.assert_close(coalesced, reference(source), rtol=0, atol=0)
    torch.testing.assert_close(strided, reference(source), rtol=0, atol=0)
    print("copy_coalesced_strided: both match torch")
