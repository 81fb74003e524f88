"""Gluon kernels: layouts as constexpr arguments, an autotuned one, and one that takes a host descriptor."""

import pytest
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def copy_scalar(in_ptr, out_ptr):
    gl.store(out_ptr, gl.load(in_ptr))


@gluon.jit
def copy_1d(in_ptr, out_ptr, xnumel, XBLOCK: gl.constexpr, layout: gl.constexpr):
    offsets = gl.program_id(0) * XBLOCK + gl.arange(0, XBLOCK, layout=layout)
    mask = offsets < xnumel
    gl.store(out_ptr + offsets, gl.load(in_ptr + offsets, mask=mask), mask=mask)


@triton.autotune(configs=[triton.Config({"XBLOCK": 2**i}, num_warps=4) for i in range(8, 11)], key=["xnumel"])
@gluon.jit
def copy_tuned(in_ptr, out_ptr, xnumel, XBLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [WARP_SIZE], [4], [0])
    offsets = gl.program_id(0) * XBLOCK + gl.arange(0, XBLOCK, layout=layout)
    mask = offsets < xnumel
    gl.store(out_ptr + offsets, gl.load(in_ptr + offsets, mask=mask), mask=mask)


WARP_SIZE = gl.constexpr(triton.runtime.driver.active.get_current_target().warp_size)


def copy(kernel, x, out, *args, **kwargs):
    grid = lambda meta: (triton.cdiv(x.numel(), meta["XBLOCK"]),)
    kernel[grid](x, out, x.numel(), *args, **kwargs)


@pytest.mark.parametrize("xnumel", [40])
def test_copy(xnumel):
    raise AssertionError


x = torch.tensor([42.0], device="cuda")
y = torch.empty_like(x)
copy_scalar[(1,)](x, y, num_warps=1)
torch.testing.assert_close(x, y)
x = torch.randn(1 << 20, device="cuda")
y = torch.empty_like(x)
for width in (1, 4):
    layout = gl.BlockedLayout([width], [WARP_SIZE.value], [4], [0])
    copy(copy_1d, x, y, 1024, layout, num_warps=4)
copy(copy_tuned, x, y)

if torch.cuda.get_device_capability()[0] == 9 and torch.version.cuda:
    from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

    load_tile = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
    store_tile = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global

    @gluon.jit
    def copy_tile(in_desc, out_desc):
        smem = gl.allocate_shared_memory(in_desc.dtype, in_desc.block_shape, in_desc.layout)
        bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
        mbarrier.init(bar, count=1)
        mbarrier.expect(bar, in_desc.block_type.nbytes)
        x, y = gl.program_id(0) * in_desc.block_shape[0], gl.program_id(1) * in_desc.block_shape[1]
        load_tile(in_desc, [x, y], bar, smem)
        mbarrier.wait(bar, phase=0)
        mbarrier.invalidate(bar)
        store_tile(out_desc, [x, y], smem)
        tma.store_wait(0)

    a = torch.randn(512, 512, device="cuda", dtype=torch.float16)
    b = torch.empty_like(a)
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    copy_tile[(8, 8)](
        TensorDescriptor.from_tensor(a, [64, 64], layout), TensorDescriptor.from_tensor(b, [64, 64], layout)
    )
