"""2-D convolution as a matrix multiplication

An implicit GEMM: every output pixel is a row, every filter a column, and the sum runs over the filter's
positions and the input channels. The matrix of input patches is never built; its elements are gathered
straight from the image while the loop runs, with zeros outside of it. Channels come last in memory, so
that neighbouring threads read neighbouring channels. The numbers of channels and filters are known at
compile time: where a step of the loop stands is then cheap to say.

Sizes: 8 images of 56 × 56 × 64, 128 filters of 3 × 3 × 64, stride 1, padding 1; fp16 in and out,
accumulated in fp32.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def convolution_kernel(
    x_ptr,
    weight_ptr,
    output_ptr,
    height,
    width,
    output_height,
    output_width,
    n_pixels,
    CHANNELS: tl.constexpr,
    FILTERS: tl.constexpr,
    FILTER_HEIGHT: tl.constexpr,
    FILTER_WIDTH: tl.constexpr,
    STRIDE: tl.constexpr,
    PADDING: tl.constexpr,
    BLOCK_PIXELS: tl.constexpr,
    BLOCK_FILTERS: tl.constexpr,
    BLOCK_CHANNELS: tl.constexpr,
):
    pixels = tl.program_id(axis=0) * BLOCK_PIXELS + tl.arange(0, BLOCK_PIXELS)
    columns = tl.program_id(axis=1) * BLOCK_FILTERS + tl.arange(0, BLOCK_FILTERS)

    # Pixels are numbered over all images; take the number apart again.
    image = pixels // (output_height * output_width)
    top = pixels // output_width % output_height * STRIDE - PADDING
    left = pixels % output_width * STRIDE - PADDING

    accumulator = tl.zeros((BLOCK_PIXELS, BLOCK_FILTERS), dtype=tl.float32)
    # One loop over filter rows, filter columns and channel blocks together: the compiler pipelines a
    # single loop better than three nested ones.
    channel_blocks = tl.cdiv(CHANNELS, BLOCK_CHANNELS)
    for step in range(FILTER_HEIGHT * FILTER_WIDTH * channel_blocks):
        position = step // channel_blocks
        y = top + position // FILTER_WIDTH
        x = left + position % FILTER_WIDTH
        depth = step % channel_blocks * BLOCK_CHANNELS + tl.arange(0, BLOCK_CHANNELS)

        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width) & (pixels < n_pixels)
        x_ptrs = x_ptr + ((image * height + y) * width + x)[:, None] * CHANNELS + depth[None, :]
        patch = tl.load(x_ptrs, mask=inside[:, None] & (depth[None, :] < CHANNELS), other=0.0)

        weight_ptrs = weight_ptr + (position * CHANNELS + depth)[:, None] * FILTERS + columns[None, :]
        weight_mask = (depth[:, None] < CHANNELS) & (columns[None, :] < FILTERS)
        weight = tl.load(weight_ptrs, mask=weight_mask, other=0.0)

        accumulator = tl.dot(patch, weight, accumulator)

    output_ptrs = output_ptr + pixels[:, None] * FILTERS + columns[None, :]
    output_mask = (pixels[:, None] < n_pixels) & (columns[None, :] < FILTERS)
    tl.store(output_ptrs, accumulator.to(output_ptr.dtype.element_ty), mask=output_mask)


def convolution(x: torch.Tensor, weight: torch.Tensor, stride: int = 1, padding: int = 0) -> torch.Tensor:
    """Convolve (image, height, width, channel) with (filter height, filter width, channel, filter)."""
    assert x.is_contiguous() and weight.is_contiguous() and x.shape[3] == weight.shape[2]
    images, height, width, channels = x.shape
    filter_height, filter_width, _, filters = weight.shape
    output_height = (height + 2 * padding - filter_height) // stride + 1
    output_width = (width + 2 * padding - filter_width) // stride + 1
    output = torch.empty((images, output_height, output_width, filters), device=x.device, dtype=x.dtype)
    n_pixels = images * output_height * output_width
    block_pixels, block_filters, block_channels = 128, 128, 64
    grid = (triton.cdiv(n_pixels, block_pixels), triton.cdiv(filters, block_filters))
    convolution_kernel[grid](
        x,
        weight,
        output,
        height,
        width,
        output_height,
        output_width,
        n_pixels,
        CHANNELS=channels,
        FILTERS=filters,
        FILTER_HEIGHT=filter_height,
        FILTER_WIDTH=filter_width,
        STRIDE=stride,
        PADDING=padding,
        BLOCK_PIXELS=block_pixels,
        BLOCK_FILTERS=block_filters,
        BLOCK_CHANNELS=block_channels,
        num_warps=4,
        num_stages=3,
    )
    return output


def reference(x: torch.Tensor, weight: torch.Tensor, stride: int = 1, padding: int = 0) -> torch.Tensor:
    channels_first = x.float().permute(0, 3, 1, 2)
    filters_first = weight.float().permute(3, 2, 0, 1)
    output = torch.nn.functional.conv2d(channels_first, filters_first, stride=stride, padding=padding)
    return output.permute(0, 2, 3, 1).to(x.dtype)


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["images"],
        x_vals=[8, 16, 32, 64, 128, 256],
        x_log=True,
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="TFLOP/s",
        plot_name="convolution-2d",
        args={},
    )
)
def benchmark(images: int, provider: str) -> float:
    x = torch.randn(images, 56, 56, 64, device="cuda", dtype=torch.float16)
    weight = torch.randn(3, 3, 64, 128, device="cuda", dtype=torch.float16)
    channels_first, filters_first = x.permute(0, 3, 1, 2), weight.permute(3, 2, 0, 1)
    run = {
        "triton": lambda: convolution(x, weight, stride=1, padding=1),
        "torch": lambda: torch.nn.functional.conv2d(channels_first, filters_first, padding=1),
    }[provider]
    milliseconds = triton.testing.do_bench(run)
    return 2 * images * 56 * 56 * weight.numel() / milliseconds / 1e9


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(8, 56, 56, 64, device="cuda", dtype=torch.float16)
    weight = torch.randn(3, 3, 64, 128, device="cuda", dtype=torch.float16)

    output = convolution(x, weight, stride=1, padding=1)

    torch.testing.assert_close(output, reference(x, weight, stride=1, padding=1), rtol=1e-2, atol=1e-1)
    print("convolution_2d: matches torch")
