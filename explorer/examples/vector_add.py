"""Vector addition

The smallest complete kernel: each program adds one block of two vectors, and a mask keeps the last
program inside the arrays. Every stage is short, so it is a good place to follow one line of Python
from the loads and the addition all the way to the machine instructions.

Sizes: 1,000,000 elements, fp32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    output = torch.empty_like(x)
    n_elements = output.numel()
    block_size = 1024
    grid = (triton.cdiv(n_elements, block_size),)
    add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=block_size)
    return output


def reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["size"],
        x_vals=[2**power for power in range(16, 29, 2)],
        x_log=True,
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="GB/s",
        plot_name="vector-add",
        args={},
    )
)
def benchmark(size: int, provider: str) -> float:
    x = torch.randn(size, device="cuda", dtype=torch.float32)
    y = torch.randn_like(x)
    run = {"triton": lambda: add(x, y), "torch": lambda: x + y}[provider]
    milliseconds = triton.testing.do_bench(run)
    return 3 * x.numel() * x.element_size() / milliseconds / 1e6


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(1_000_000, device="cuda", dtype=torch.float32)
    y = torch.randn(1_000_000, device="cuda", dtype=torch.float32)

    output = add(x, y)

    torch.testing.assert_close(output, reference(x, y), rtol=0, atol=0)
    print("vector_add: matches torch")
