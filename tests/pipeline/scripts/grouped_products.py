"""A grouped matrix product: device tensors hold the addresses and sizes of the matrices."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


def num_sms():
    if torch.version.hip is None:
        return torch.cuda.get_device_properties("cuda").multi_processor_count
    return 148


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32, "NUM_SM": 84}),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "NUM_SM": num_sms()}),
    ],
    key=["group_size"],
)
@triton.jit
def grouped_kernel(
    group_a_ptrs,
    group_b_ptrs,
    group_c_ptrs,
    group_gemm_sizes,
    g_lds,
    group_size,
    NUM_SM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tile_idx = tl.program_id(0)
    last = 0
    for g in range(group_size):
        gm = tl.load(group_gemm_sizes + g * 3)
        gn = tl.load(group_gemm_sizes + g * 3 + 1)
        gk = tl.load(group_gemm_sizes + g * 3 + 2)
        columns = tl.cdiv(gn, BLOCK_N)
        num_tiles = tl.cdiv(gm, BLOCK_M) * columns
        while tile_idx >= last and tile_idx < last + num_tiles:
            lda = tl.load(g_lds + g * 3)
            ldb = tl.load(g_lds + g * 3 + 1)
            ldc = tl.load(g_lds + g * 3 + 2)
            a_ptr = tl.load(group_a_ptrs + g).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(group_b_ptrs + g).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(group_c_ptrs + g).to(tl.pointer_type(tl.float16))
            tile = tile_idx - last
            offs_m = (tile // columns) * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_n = (tile % columns) * BLOCK_N + tl.arange(0, BLOCK_N)
            offs_k = tl.arange(0, BLOCK_K)
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for kk in range(tl.cdiv(gk, BLOCK_K)):
                a = tl.load(a_ptr + offs_m[:, None] * lda + offs_k[None, :] + kk * BLOCK_K)
                b = tl.load(b_ptr + (offs_k[:, None] + kk * BLOCK_K) * ldb + offs_n[None, :])
                acc += tl.dot(a, b)
            tl.store(c_ptr + ldc * offs_m[:, None] + offs_n[None, :], acc.to(tl.float16))
            tile_idx += NUM_SM
        last = last + num_tiles


def group_gemm(group_A, group_B):
    assert len(group_A) == len(group_B)
    A_addrs, B_addrs, C_addrs, g_sizes, g_lds, group_C = [], [], [], [], [], []
    for A, B in zip(group_A, group_B):
        assert A.shape[1] == B.shape[0]
        M, K = A.shape
        K, N = B.shape
        C = torch.empty((M, N), device=DEVICE, dtype=A.dtype)
        group_C.append(C)
        A_addrs.append(A.data_ptr())
        B_addrs.append(B.data_ptr())
        C_addrs.append(C.data_ptr())
        g_sizes += [M, N, K]
        g_lds += [A.stride(0), B.stride(0), C.stride(0)]
    d_a_ptrs = torch.tensor(A_addrs, device=DEVICE)
    d_b_ptrs = torch.tensor(B_addrs, device=DEVICE)
    d_c_ptrs = torch.tensor(C_addrs, device=DEVICE)
    d_g_sizes = torch.tensor(g_sizes, dtype=torch.int32, device=DEVICE)
    d_g_lds = torch.tensor(g_lds, dtype=torch.int32, device=DEVICE)
    grid = lambda META: (META["NUM_SM"],)
    grouped_kernel[grid](d_a_ptrs, d_b_ptrs, d_c_ptrs, d_g_sizes, d_g_lds, len(group_A))
    return group_C


group_A = [torch.rand((size, size), device=DEVICE, dtype=torch.float16) for size in (1024, 512, 256, 128)]
group_B = [torch.rand((size, size), device=DEVICE, dtype=torch.float16) for size in (1024, 512, 256, 128)]
tri_out = group_gemm(group_A, group_B)
ref_out = [torch.matmul(a, b) for a, b in zip(group_A, group_B)]
for i in range(4):
    assert torch.allclose(ref_out[i], tri_out[i], atol=1e-2, rtol=1e-2)
