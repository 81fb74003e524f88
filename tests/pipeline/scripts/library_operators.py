"""Ways in which libraries wrap kernels: operators, device guards, streams, graphs, compiled modules."""

import functools
import logging
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl
from packaging import version
from torch.library import triton_op, wrap_triton

logger = logging.getLogger(__name__)
USE_FAST = os.environ.get("USE_FAST", "1") == "1"
TRITON_AT_LEAST_3 = version.parse(triton.__version__) >= version.parse("3.0.0")
IS_AMD = torch.version.hip is not None
SMS = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count
CAPABILITY = torch.cuda.get_device_capability(0)


def calculate_settings(n):
    BLOCK_SIZE = triton.next_power_of_2(n)
    if BLOCK_SIZE > 65536:
        raise RuntimeError(f"Cannot launch Triton kernel since n = {n} exceeds 65536.")
    return BLOCK_SIZE, 4 if BLOCK_SIZE < 2048 else 8 if BLOCK_SIZE < 8192 else 16


def contiguous_inputs(fn):
    @functools.wraps(fn)
    def wrapper(ctx, *args, **kwargs):
        tensor = next(value for value in args if isinstance(value, torch.Tensor))
        with torch.cuda.device(tensor.device.index):
            args = [a.contiguous() if isinstance(a, torch.Tensor) else a for a in args]
            return fn(ctx, *args, **kwargs)

    return wrapper


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def _swiglu_forward(a_ptr, b_ptr, c_ptr, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    a = tl.load(a_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + row * stride + cols, mask=mask, other=0)
    tl.store(c_ptr + row * stride + cols, silu(a).cast(b.dtype) * b, mask=mask)


@triton.jit
def _swiglu_backward(dc_ptr, a_ptr, b_ptr, stride, n_cols: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    dc = tl.load(dc_ptr + row * stride + cols, mask=mask, other=0)
    a = tl.load(a_ptr + row * stride + cols, mask=mask, other=0).to(tl.float32)
    b = tl.load(b_ptr + row * stride + cols, mask=mask, other=0)
    sig = tl.sigmoid(a)
    tl.store(a_ptr + row * stride + cols, dc * (a * sig * (1 - sig) + sig) * b, mask=mask)
    tl.store(b_ptr + row * stride + cols, dc * a * sig, mask=mask)


class SwiGLU(torch.autograd.Function):
    @staticmethod
    @contiguous_inputs
    def forward(ctx, a, b):
        shape = a.shape
        a, b = a.view(-1, shape[-1]), b.view(-1, shape[-1])
        c = torch.empty_like(a)
        BLOCK_SIZE, num_warps = calculate_settings(shape[-1])
        _swiglu_forward[(a.shape[0],)](
            a, b, c, c.stride(-2), n_cols=shape[-1], BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps
        )
        ctx.save_for_backward(a, b)
        return c.view(*shape)

    @staticmethod
    @contiguous_inputs
    def backward(ctx, dc):
        a, b = ctx.saved_tensors
        shape = dc.shape
        dc = dc.view(-1, shape[-1])
        BLOCK_SIZE, num_warps = calculate_settings(shape[-1])
        _swiglu_backward[(dc.shape[0],)](
            dc, a, b, dc.stride(-2), n_cols=shape[-1], BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps
        )
        return a.view(*shape), b.view(*shape)


class MLP(nn.Module):
    def __init__(self, hidden, intermediate):
        super().__init__()
        self.gate = nn.Linear(hidden, intermediate, bias=False)
        self.up = nn.Linear(hidden, intermediate, bias=False)
        self.down = nn.Linear(intermediate, hidden, bias=False)

    def forward(self, x):
        return self.down(SwiGLU.apply(self.gate(x), self.up(x)))


@triton.heuristics(
    {
        "HAS_BIAS": lambda args: args["bias_ptr"] is not None,
        "BLOCK": lambda args: triton.next_power_of_2(args["n"]),
    }
)
@triton.jit
def _add_bias(x_ptr, bias_ptr, out_ptr, n, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + tl.program_id(0) * n + offsets, mask=mask)
    if HAS_BIAS:
        x += tl.load(bias_ptr + offsets, mask=mask)
    tl.store(out_ptr + tl.program_id(0) * n + offsets, x, mask=mask)


@torch.library.custom_op("explorer_test::add_bias", mutates_args=())
def add_bias(x: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    out = torch.empty_like(x)
    with torch.cuda.device_of(x):
        _add_bias[(x.shape[0],)](x, bias, out, x.shape[1])
    return out


@add_bias.register_fake
def _(x, bias):
    return torch.empty_like(x)


def _setup(ctx, inputs, output):
    ctx.has_bias = inputs[1] is not None


def _add_bias_backward(ctx, grad):
    _scale_kernel[(8,)](grad, 2.0, grad.numel(), BLOCK=256)
    return grad, grad.sum(0) if ctx.has_bias else None


add_bias.register_autograd(_add_bias_backward, setup_context=_setup)


@triton.jit
def _scale_kernel(x_ptr, factor, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(x_ptr + offsets, x * factor, mask=offsets < n)


@triton_op("explorer_test::scale", mutates_args={"x"})
def scale(x: torch.Tensor, factor: float) -> None:
    wrap_triton(_scale_kernel)[(triton.cdiv(x.numel(), 1024),)](x, factor, x.numel(), BLOCK=1024)


lib = torch.library.Library("explorer_test", "FRAGMENT")
lib.define("halve(Tensor x) -> Tensor")


def _halve(x):
    out = x.clone()
    _scale_kernel[(4,)](out, 0.5, out.numel(), BLOCK=512)
    return out


lib.impl("halve", _halve, "CUDA")
lib._register_fake("halve", lambda x: torch.empty_like(x))


@torch.compile(fullgraph=True)
def compiled(x):
    y = torch.ops.explorer_test.halve(x)
    return F.silu(y)


def main():
    device = torch.device("cuda")
    torch.cuda.manual_seed_all(0)
    torch.set_default_device("cuda")
    default = torch.zeros(4)
    torch.set_default_device("cpu")
    logger.info("default %s", default.device)
    mlp = MLP(512, 1024).to(device=device, dtype=torch.bfloat16)
    x = torch.randn(4, 128, 512, device=device, dtype=torch.bfloat16, requires_grad=True)
    with torch.autocast("cuda", dtype=torch.bfloat16), torch.cuda.stream(torch.cuda.Stream()):
        loss = mlp(x).float().pow(2).mean()
    loss.backward()
    print("loss", loss.item(), x.grad.norm().item())
    flat = x.detach().view(-1, 512).float().requires_grad_()
    bias = torch.from_numpy(np.zeros(512, dtype=np.float32)).cuda()
    add_bias(flat, bias).sum().backward()
    torch.ops.explorer_test.add_bias(flat.detach(), None)
    scale(flat.detach(), 3.0)
    compiled(flat.detach())
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scale(flat.detach(), 3.0)
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    ms = start.elapsed_time(end)
    free, total = torch.cuda.mem_get_info()
    print(f"{ms:.3f} ms, {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB of {total / 2**30:.0f}")
    torch.testing.assert_close(compiled(flat.detach()), F.silu(flat.detach() * 0.5))


if __name__ == "__main__":
    main()
