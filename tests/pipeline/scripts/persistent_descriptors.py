"""Persistent matrix product with descriptors from the device and from the host, profiled by Proton."""

import argparse
from contextlib import contextmanager

import torch
import triton
import triton.language as tl
import triton.profiler as proton
from triton.tools.tensor_descriptor import TensorDescriptor

if torch.cuda.is_available():
    cublas_workspace = torch.empty(32 * 1024 * 1024, device="cuda", dtype=torch.uint8)
else:
    cublas_workspace = None


def supports_tma():
    return torch.version.hip is None and torch.cuda.get_device_capability()[0] >= 9


def _metadata(grid, kernel, args):
    ret = {}
    M, N, K = args["M"], args["N"], args["K"]
    ret["name"] = f"{kernel.name} [M={M}, N={N}, K={K}]"
    ret["flops16"] = 2.0 * M * N * K
    return ret


@triton.jit
def _tile(tile_id, num_pid_in_group, num_pid_m, GROUP_M: tl.constexpr):
    first = tile_id // num_pid_in_group * GROUP_M
    size = min(num_pid_m - first, GROUP_M)
    return first + tile_id % size, (tile_id % num_pid_in_group) // size


@triton.jit(launch_metadata=_metadata)
def persistent_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    FP8_OUTPUT: tl.constexpr,
    NUM_SMS: tl.constexpr,
    WARP_SPECIALIZE: tl.constexpr,
    FLATTEN: tl.constexpr,
):
    dtype = tl.float8e4nv if FP8_OUTPUT else tl.float16
    num_pid_m, num_pid_n, k_tiles = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N), tl.cdiv(K, BLOCK_K)
    a_desc = tl.make_tensor_descriptor(a_ptr, shape=[M, K], strides=[K, 1], block_shape=[BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, shape=[N, K], strides=[K, 1], block_shape=[BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    for tile_id in tl.range(
        tl.program_id(0), num_pid_m * num_pid_n, NUM_SMS, flatten=FLATTEN, warp_specialize=WARP_SPECIALIZE
    ):
        pid_m, pid_n = _tile(tile_id, GROUP_M * num_pid_n, num_pid_m, GROUP_M)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for ki in range(k_tiles):
            a = a_desc.load([pid_m * BLOCK_M, ki * BLOCK_K])
            b = b_desc.load([pid_n * BLOCK_N, ki * BLOCK_K])
            acc = tl.dot(a, b.T, acc)
        c_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], acc.to(dtype))


@triton.jit(launch_metadata=_metadata)
def host_kernel(
    a_desc, b_desc, c_desc, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(tl.cdiv(K, BLOCK_K)):
        a = a_desc.load([pid_m * BLOCK_M, k * BLOCK_K])
        b = b_desc.load([pid_n * BLOCK_N, k * BLOCK_K])
        acc = tl.dot(a, b.T, acc)
    c_desc.store([pid_m * BLOCK_M, pid_n * BLOCK_N], acc.to(tl.float16))


def persistent(a, b):
    M, K = a.shape
    N, K = b.shape
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    NUM_SMS = torch.cuda.get_device_properties("cuda").multi_processor_count

    def alloc_fn(size: int, alignment: int, stream: int | None):
        return torch.empty(size, device="cuda", dtype=torch.int8)

    triton.set_allocator(alloc_fn)
    grid = lambda META: (min(NUM_SMS, triton.cdiv(M, 128) * triton.cdiv(N, 128)),)
    persistent_kernel[grid](
        a,
        b,
        c,
        M,
        N,
        K,
        128,
        128,
        64,
        8,
        FP8_OUTPUT=a.dtype == torch.float8_e4m3fn,
        NUM_SMS=NUM_SMS,
        WARP_SPECIALIZE=False,
        FLATTEN=False,
        num_warps=8,
        num_stages=3,
    )
    return c


def by_host_descriptors(a, b):
    M, K = a.shape
    N, K = b.shape
    c = torch.empty((M, N), device=a.device, dtype=a.dtype)
    descs = [TensorDescriptor.from_tensor(t, [128, 64]) for t in (a, b)]
    host_kernel[(M // 128, N // 128)](
        *descs, TensorDescriptor.from_tensor(c, [128, 128]), M, N, K, 128, 128, 64
    )
    return c


@contextmanager
def proton_context():
    proton.activate(0)
    try:
        yield
    finally:
        proton.deactivate(0)


def bench_fn(label, reps, warmup_reps, fn, *args):
    for _ in range(warmup_reps):
        fn(*args)
    with proton_context():
        for _ in range(reps):
            fn(*args)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-K", type=int, required=False, default=512)
    parser.add_argument("--prec", type=str, choices=["fp8", "fp16"], default="fp16")
    args = parser.parse_args()
    torch.manual_seed(0)
    proton.start("matmul", hook="triton")
    proton.deactivate()
    for K in range(args.K, args.K + 1, 512):
        a = torch.randn((1024, K), device="cuda", dtype=torch.float16)
        b = torch.randn((K, 1024), device="cuda", dtype=torch.float16).T.contiguous()
        bench_fn("persistent", 2, 1, persistent, a, b)
        if supports_tma():
            bench_fn("host", 2, 1, by_host_descriptors, a, b)
        print("same:", torch.allclose(persistent(a, b), a @ b.T))
    proton.finalize()
