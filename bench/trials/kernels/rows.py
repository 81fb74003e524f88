import torch, triton
import triton.language as tl


@triton.jit
def softmax(x, y, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + row * stride + column, mask=column < columns, other=-float("inf")).to(tl.float32)
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * stride + column, value / tl.sum(value, 0), mask=column < columns)


@triton.jit
def layer_norm(x, w, b, y, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    value = tl.load(x + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(value, 0) / columns
    centered = tl.where(mask, value - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centered * centered, 0) / columns + eps)
    weight, bias = tl.load(w + column, mask=mask), tl.load(b + column, mask=mask)
    tl.store(y + row * columns + column, centered * scale * weight + bias, mask=mask)


def run_softmax(rows, columns, dtype, block=None, **options):
    x = torch.randn(rows, columns, device="cuda", dtype=dtype)
    y = torch.empty_like(x)
    softmax[(rows,)](x, y, columns, columns, BLOCK=block or triton.next_power_of_2(columns), **options)


def run_layer_norm(rows, columns, dtype, **options):
    x = torch.randn(rows, columns, device="cuda", dtype=dtype)
    w, b = torch.randn(columns, device="cuda", dtype=dtype), torch.randn(columns, device="cuda", dtype=dtype)
    layer_norm[(rows,)](
        x, w, b, torch.empty_like(x), columns, 1e-5, BLOCK=triton.next_power_of_2(columns), **options
    )


run_softmax(8192, 16384, torch.float16, num_warps=1)
run_softmax(8192, 32768, torch.float32, num_warps=4)
run_softmax(8192, 65536, torch.bfloat16, num_warps=4)
run_softmax(65536, 1024, torch.float16, num_warps=16)
run_softmax(65536, 512, torch.bfloat16, num_warps=8)
run_softmax(65536, 2048, torch.float16, num_warps=16)
run_layer_norm(8192, 16384, torch.float16, num_warps=1)
run_layer_norm(8192, 32768, torch.float32, num_warps=4)
run_layer_norm(32768, 1024, torch.bfloat16, num_warps=16)
run_layer_norm(32768, 512, torch.float16, num_warps=4)
