"""Layer normalisation (forward)

Normalises each row to mean 0 and variance 1, then applies a weight and a bias per column. The mean and
the reciprocal standard deviation of every row are stored as well: the backward pass needs them. The row
stays in registers between the two reductions, so memory sees one read and one write.

Sizes: 4096 × 4096, fp16 in and out, statistics in fp32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(
    x_ptr,
    weight_ptr,
    bias_ptr,
    output_ptr,
    mean_ptr,
    rstd_ptr,
    row_stride,
    n_columns,
    epsilon,
    BLOCK_SIZE: tl.constexpr,
):
    row = tl.program_id(axis=0).to(tl.int64)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    x = tl.load(x_ptr + row * row_stride + columns, mask=mask, other=0.0).to(tl.float32)

    mean = tl.sum(x, axis=0) / n_columns
    # The padding is 0, not the mean: without the mask it would count in the variance.
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n_columns
    rstd = 1.0 / tl.sqrt(variance + epsilon)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)

    weight = tl.load(weight_ptr + columns, mask=mask).to(tl.float32)
    bias = tl.load(bias_ptr + columns, mask=mask).to(tl.float32)
    output = centered * rstd * weight + bias
    tl.store(output_ptr + row * row_stride + columns, output.to(output_ptr.dtype.element_ty), mask=mask)


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, epsilon: float = 1e-5
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    assert x.is_contiguous()
    n_rows, n_columns = x.shape
    output = torch.empty_like(x)
    mean = torch.empty(n_rows, device=x.device, dtype=torch.float32)
    rstd = torch.empty(n_rows, device=x.device, dtype=torch.float32)
    layer_norm_kernel[(n_rows,)](
        x,
        weight,
        bias,
        output,
        mean,
        rstd,
        x.stride(0),
        n_columns,
        epsilon,
        BLOCK_SIZE=triton.next_power_of_2(n_columns),
        num_warps=8,
    )
    return output, mean, rstd


def reference(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, epsilon: float = 1e-5
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    wide = x.double()
    mean = wide.mean(dim=1)
    rstd = torch.rsqrt(wide.var(dim=1, unbiased=False) + epsilon)
    normalized = (wide - mean[:, None]) * rstd[:, None]
    output = normalized * weight.double() + bias.double()
    return output.to(x.dtype), mean.float(), rstd.float()


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["rows"],
        x_vals=[2**power for power in range(8, 18, 2)],
        x_log=True,
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="GB/s",
        plot_name="layer-norm",
        args={},
    )
)
def benchmark(rows: int, provider: str) -> float:
    x = torch.randn(rows, 4096, device="cuda", dtype=torch.float16)
    weight, bias = torch.rand(2, 4096, device="cuda", dtype=torch.float16)
    run = {
        "triton": lambda: layer_norm(x, weight, bias),
        "torch": lambda: torch.nn.functional.layer_norm(x, (4096,), weight, bias),
    }[provider]
    milliseconds = triton.testing.do_bench(run)
    return 2 * x.numel() * x.element_size() / milliseconds / 1e6


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
    weight = torch.rand(4096, device="cuda", dtype=torch.float16)
    bias = torch.rand(4096, device="cuda", dtype=torch.float16)

    output, mean, rstd = layer_norm(x, weight, bias)

    expected_output, expected_mean, expected_rstd = reference(x, weight, bias)
    torch.testing.assert_close(output, expected_output, rtol=1e-2, atol=1e-2)
    torch.testing.assert_close(mean, expected_mean, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(rstd, expected_rstd, rtol=1e-4, atol=1e-5)
    print("layer_norm: matches torch")
