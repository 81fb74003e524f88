"""Dropout with a seed

Drops each element with probability p and scales up the rest. The random numbers come from Philox, a
counter-based generator: element i of stream `seed` is a pure function of the two, computed in registers.
No mask is stored; a backward pass draws the same numbers again from the same seed. One round of the
generator makes four numbers: with a round for each element it would be the integer arithmetic that takes
the time, not the memory. The reference is the same generator written in torch, so the two agree element
by element.

Sizes: 1,000,000 elements, fp32, p = 0.25.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, output_ptr, n_elements, p, seed, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    # Elements 4 i to 4 i + 3 take the four words of counter i, in order.
    counters = tl.program_id(axis=0) * (BLOCK_SIZE // 4) + tl.arange(0, BLOCK_SIZE // 4)
    word_0, word_1, word_2, word_3 = tl.rand4x(seed, counters)
    random = tl.interleave(tl.interleave(word_0, word_2), tl.interleave(word_1, word_3))
    keep = random > p
    output = tl.where(keep, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=mask)


def dropout(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    assert x.is_contiguous()
    output = torch.empty_like(x)
    n_elements = x.numel()
    block_size = 1024
    grid = (triton.cdiv(n_elements, block_size),)
    dropout_kernel[grid](x, output, n_elements, p, seed, BLOCK_SIZE=block_size)
    return output


def reference(x: torch.Tensor, p: float, seed: int) -> torch.Tensor:
    counters = torch.arange((x.numel() + 3) // 4, device=x.device, dtype=torch.int64)
    random = philox_uniform(seed, counters).flatten()[: x.numel()].reshape(x.shape)
    return torch.where(random > p, x / (1 - p), 0.0)


def philox_uniform(seed: int, counter: torch.Tensor, rounds: int = 10) -> torch.Tensor:
    """Philox-4x32 as four numbers in [0, 1) a counter: 32-bit words, held in 64-bit integers."""
    word = 0xFFFFFFFF
    c0, c1, c2, c3 = counter & word, counter >> 32, torch.zeros_like(counter), torch.zeros_like(counter)
    key0, key1 = seed & word, seed >> 32 & word
    for _ in range(rounds):
        high0, low0 = multiply_words(0xD2511F53, c0)
        high1, low1 = multiply_words(0xCD9E8D57, c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ key0, low1, high0 ^ c3 ^ key1, low0
        key0, key1 = key0 + 0x9E3779B9 & word, key1 + 0xBB67AE85 & word
    # As a signed number, folded onto the non-negative half, and scaled by just under 2^-31.
    words = torch.stack([c0, c1, c2, c3], dim=-1)
    folded = torch.where(words >= 1 << 31, word - words, words)
    return folded.float() * 4.6566127342e-10


def multiply_words(factor: int, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The high and the low word of a 32 × 32-bit product, without overflowing 64 signed bits."""
    low_part = factor * (value & 0xFFFF)
    high_part = factor * (value >> 16) + (low_part >> 16)
    return high_part >> 16, (high_part & 0xFFFF) << 16 | low_part & 0xFFFF


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["size"],
        x_vals=[2**power for power in range(16, 29, 2)],
        x_log=True,
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="GB/s",
        plot_name="dropout",
        args={},
    )
)
def benchmark(size: int, provider: str) -> float:
    x = torch.randn(size, device="cuda", dtype=torch.float32)
    run = {
        "triton": lambda: dropout(x, p=0.25, seed=123),
        "torch": lambda: torch.nn.functional.dropout(x, p=0.25),
    }[provider]
    milliseconds = triton.testing.do_bench(run)
    return 2 * x.numel() * x.element_size() / milliseconds / 1e6


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(1_000_000, device="cuda", dtype=torch.float32)

    output = dropout(x, p=0.25, seed=123)

    torch.testing.assert_close(output, reference(x, p=0.25, seed=123))
    print("dropout: matches torch")
