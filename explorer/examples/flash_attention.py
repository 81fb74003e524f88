"""Flash attention (forward)

softmax(Q Kᵀ / √d) V without ever storing the matrix of scores: a program keeps one block of queries and
walks over the keys and values, correcting its running maximum, sum and output as larger scores turn up
(online softmax). `CAUSAL` is a compile-time option: key blocks above the diagonal are never visited, and
only blocks on the diagonal or at the end of the sequence pay for a mask. The logarithm of each row's sum
is stored for a backward pass.

Sizes: batch 2, 8 heads, 1024 positions, head dimension 64, fp16 in and out, fp32 inside.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def attend(
    accumulator,
    row_max,
    row_sum,
    q,
    k_ptr,
    v_ptr,
    rows,
    length,
    row_stride,
    scale_log2,
    start,
    end,
    BLOCK_N: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
    MASKED: tl.constexpr,
):
    """Fold the keys and values in [start, end) into the running result."""
    dims = tl.arange(0, HEAD_DIM)
    for first_column in range(start, end, BLOCK_N):
        columns = first_column + tl.arange(0, BLOCK_N)
        k_ptrs = k_ptr + columns[None, :] * row_stride + dims[:, None]
        v_ptrs = v_ptr + columns[:, None] * row_stride + dims[None, :]

        if MASKED:
            k = tl.load(k_ptrs, mask=columns[None, :] < length, other=0.0)
        else:
            k = tl.load(k_ptrs)
        scores = tl.dot(q, k) * scale_log2
        if MASKED:
            visible = columns[None, :] < length
            if CAUSAL:
                visible &= columns[None, :] <= rows[:, None]
            scores = tl.where(visible, scores, -float("inf"))

        new_max = tl.maximum(row_max, tl.max(scores, axis=1))
        correction = tl.exp2(row_max - new_max)
        weights = tl.exp2(scores - new_max[:, None])
        row_sum = row_sum * correction + tl.sum(weights, axis=1)
        row_max = new_max

        if MASKED:
            v = tl.load(v_ptrs, mask=columns[:, None] < length, other=0.0)
        else:
            v = tl.load(v_ptrs)
        accumulator = tl.dot(weights.to(v.dtype), v, accumulator * correction[:, None])
    return accumulator, row_max, row_sum


@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    output_ptr,
    lse_ptr,
    length,
    head_stride,
    row_stride,
    scale,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    tl.static_assert(BLOCK_M % BLOCK_N == 0, "the diagonal must start at the edge of a key block")
    LN_2: tl.constexpr = 0.6931471805599453

    first_row = tl.program_id(axis=0) * BLOCK_M
    head = tl.program_id(axis=1).to(tl.int64)
    q_ptr += head * head_stride
    k_ptr += head * head_stride
    v_ptr += head * head_stride
    output_ptr += head * head_stride

    rows = first_row + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, HEAD_DIM)
    row_mask = rows[:, None] < length
    q = tl.load(q_ptr + rows[:, None] * row_stride + dims[None, :], mask=row_mask, other=0.0)

    row_max = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    row_sum = tl.zeros((BLOCK_M,), dtype=tl.float32)
    accumulator = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)

    # The exponentials are powers of two, which the hardware has an instruction for: e^x = 2^(x / ln 2).
    scale_log2 = scale / LN_2
    if CAUSAL:
        unmasked_end = first_row
        end = tl.minimum(first_row + BLOCK_M, length)
    else:
        unmasked_end = length // BLOCK_N * BLOCK_N
        end = length
    accumulator, row_max, row_sum = attend(
        accumulator, row_max, row_sum, q, k_ptr, v_ptr, rows, length, row_stride, scale_log2,
        0, unmasked_end, BLOCK_N, HEAD_DIM, CAUSAL, MASKED=False,
    )  # fmt: skip
    accumulator, row_max, row_sum = attend(
        accumulator, row_max, row_sum, q, k_ptr, v_ptr, rows, length, row_stride, scale_log2,
        unmasked_end, end, BLOCK_N, HEAD_DIM, CAUSAL, MASKED=True,
    )  # fmt: skip

    output = accumulator / row_sum[:, None]
    output_ptrs = output_ptr + rows[:, None] * row_stride + dims[None, :]
    tl.store(output_ptrs, output.to(output_ptr.dtype.element_ty), mask=row_mask)
    tl.store(lse_ptr + head * length + rows, (row_max + tl.log2(row_sum)) * LN_2, mask=rows < length)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Take (batch, heads, length, head dimension) tensors; return the output and the log-sum-exp."""
    assert q.shape == k.shape == v.shape
    assert q.is_contiguous() and k.is_contiguous() and v.is_contiguous()
    batch, heads, length, head_dim = q.shape
    output = torch.empty_like(q)
    lse = torch.empty((batch, heads, length), device=q.device, dtype=torch.float32)
    block_m, block_n = 128, 64
    attention_kernel[(triton.cdiv(length, block_m), batch * heads)](
        q,
        k,
        v,
        output,
        lse,
        length,
        q.stride(1),
        q.stride(2),
        1.0 / math.sqrt(head_dim),
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        HEAD_DIM=head_dim,
        CAUSAL=causal,
        num_warps=8,
        num_stages=3,
    )
    return output, lse


def reference(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    length, head_dim = q.shape[-2:]
    scores = q.float() @ k.float().transpose(-1, -2) / math.sqrt(head_dim)
    if causal:
        future = torch.ones((length, length), device=q.device, dtype=torch.bool).triu(diagonal=1)
        scores = scores.masked_fill(future, -float("inf"))
    output = torch.softmax(scores, dim=-1) @ v.float()
    return output.to(q.dtype), torch.logsumexp(scores, dim=-1)


@triton.testing.perf_report(
    triton.testing.Benchmark(
        x_names=["length"],
        x_vals=[512, 1024, 2048, 4096, 8192],
        x_log=True,
        line_arg="provider",
        line_vals=["triton", "torch"],
        line_names=["Triton", "PyTorch"],
        ylabel="TFLOP/s",
        plot_name="flash-attention",
        args={},
    )
)
def benchmark(length: int, provider: str) -> float:
    q, k, v = torch.randn(3, 4, 16, length, 64, device="cuda", dtype=torch.float16)
    run = {
        "triton": lambda: attention(q, k, v, causal=True),
        "torch": lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
    }[provider]
    # Two products, and half of each lies above the diagonal.
    milliseconds = triton.testing.do_bench(run)
    return (2 * 2 * q.numel() * length / 2) / milliseconds / 1e9


if __name__ == "__main__":
    torch.manual_seed(0)
    shape = (2, 8, 1024, 64)
    q = torch.randn(shape, device="cuda", dtype=torch.float16)
    k = torch.randn(shape, device="cuda", dtype=torch.float16)
    v = torch.randn(shape, device="cuda", dtype=torch.float16)

    for causal in (True, False):
        output, lse = attention(q, k, v, causal)

        expected_output, expected_lse = reference(q, k, v, causal)
        torch.testing.assert_close(output, expected_output, rtol=1e-2, atol=1e-2)
        torch.testing.assert_close(lse, expected_lse, rtol=1e-3, atol=1e-2)
    print("flash_attention: matches torch, causal and full")
