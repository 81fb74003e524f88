"""Scripts that launch kernels of public libraries: modules of the libraries, with calls at the end.

The libraries are downloaded by `tools/install-packages` when the benchmark runs.
"""

PACKAGES = ("liger-kernel==0.8.5", "fla-core==0.6.0", "einops==0.8.2")

_ROWS = """
x = torch.randn(512, 1024, device="cuda", dtype=torch.bfloat16, requires_grad=True)
"""
_WEIGHTS = """
w = torch.randn(1024, device="cuda", dtype=torch.bfloat16, requires_grad=True)
b = torch.randn_like(w, requires_grad=True)
"""
_CLASSES = """
target = torch.randint(0, 1024, (512,), device="cuda")
"""
_DISTRIBUTIONS = """
p = torch.randn(512, 1024, device="cuda").log_softmax(-1).requires_grad_()
q = torch.randn(512, 1024, device="cuda").softmax(-1)
"""
_HEADS = """
heads = {"size": (2, 512, 4, 64), "device": "cuda", "dtype": torch.bfloat16, "requires_grad": True}
q, k, v = (torch.randn(**heads) for _ in range(3))
g = torch.randn(2, 512, 4, device="cuda", dtype=torch.float32).sigmoid().log().requires_grad_()
beta = torch.rand(2, 512, 4, device="cuda", dtype=torch.bfloat16).requires_grad_()
"""

#: The calls, by the module whose kernels they launch.
CALLS = {
    "liger_kernel/ops/rms_norm.py": _ROWS
    + _WEIGHTS
    + 'LigerRMSNormFunction.apply(x, w, 1e-6, 0.0, "llama", False).sum().backward()',
    "liger_kernel/ops/layer_norm.py": _ROWS
    + _WEIGHTS
    + "LigerLayerNormFunction.apply(x, w, b, 1e-6).sum().backward()",
    "liger_kernel/ops/fused_add_rms_norm.py": _ROWS
    + _WEIGHTS
    + """
y, r = LigerFusedAddRMSNormFunction.apply(x, torch.randn_like(x), w, 1e-6, 0.0, "llama", False)
(y+r).sum().backward()
""",
    "liger_kernel/ops/group_norm.py": """
x = torch.randn(4, 32, 256, device="cuda", requires_grad=True)
w = torch.randn(32, device="cuda", requires_grad=True)
LigerGroupNormFunction.apply(x, w, torch.randn_like(w), 32, 8, 1e-6)[0].sum().backward()
""",
    "liger_kernel/ops/swiglu.py": _ROWS
    + "LigerSiLUMulFunction.apply(x, torch.randn_like(x)).sum().backward()",
    "liger_kernel/ops/geglu.py": _ROWS
    + "LigerGELUMulFunction.apply(x, torch.randn_like(x)).sum().backward()",
    "liger_kernel/ops/cross_entropy.py": _ROWS
    + _CLASSES
    + 'LigerCrossEntropyFunction.apply(x, target, None, -100, 0.0, 0.0, "mean", None, False)[0].backward()',
    "liger_kernel/ops/kl_div.py": _DISTRIBUTIONS
    + 'LigerKLDivLossFunction.apply(p, q, "batchmean", False, 1e-10).backward()',
    "liger_kernel/ops/tvd.py": _DISTRIBUTIONS
    + 'LigerTVDLossFunction.apply(p.exp(), q, None, "batchmean", -100).backward()',
    "liger_kernel/ops/softmax.py": _ROWS + "LigerSoftmaxFunction.apply(x).sum().backward()",
    "liger_kernel/ops/sparsemax.py": _ROWS + "LigerSparsemaxFunction.apply(x, -1).sum().backward()",
    "liger_kernel/ops/dyt.py": _ROWS
    + _WEIGHTS
    + """
a = torch.ones(1, device="cuda", requires_grad=True)
LigerDyTFunction.apply(x, a, w, b).sum().backward()
""",
    "liger_kernel/ops/rope.py": """
q = torch.randn(2, 8, 512, 64, device="cuda", requires_grad=True)
c = torch.randn(1, 512, 64, device="cuda")
a, d = LigerRopeFunction.apply(q, torch.randn_like(q), c, c)
(a + d).sum().backward()
""",
    "liger_kernel/ops/poly_norm.py": _ROWS
    + """
w = torch.ones(3, device="cuda", requires_grad=True)
LigerPolyNormFunction.apply(x, w, torch.ones(1, device="cuda"), 1e-6, False).sum().backward()
""",
    "liger_kernel/ops/relu_squared.py": _ROWS + "LigerReLUSquaredFunction.apply(x).sum().backward()",
    "fla/ops/simple_gla/parallel.py": _HEADS + "parallel_simple_gla(q, k, v, g)[0].sum().backward()",
    "fla/ops/common/chunk_h.py": _HEADS + "chunk_fwd_h(k, v, g=g, output_final_state=True)",
    "fla/ops/common/chunk_o.py": _HEADS
    + """
h = torch.randn(2, 8, 4, 64, 64, device="cuda", dtype=torch.bfloat16)
chunk_fwd_o(q, k, v, h, g=g, scale=0.125)
chunk_bwd_dv_local(q, k, v, g=g, scale=0.125)
chunk_bwd_dv(q, k, v, h, g=g, scale=0.125)
""",
    "fla/ops/utils/cumsum.py": _HEADS
    + """
chunk_local_cumsum(g, 64)
chunk_global_cumsum(g)
chunk_local_cumsum(q.float(), 64)
chunk_global_cumsum(q.float())
""",
    "fla/ops/utils/solve_tril.py": """
A = torch.randn(2, 512, 4, 64, device="cuda")
solve_tril(A)
solve_tril(A[..., :32].contiguous())
""",
    "fla/ops/utils/matmul.py": """
a = torch.randn(512, 512, device="cuda", dtype=torch.bfloat16)
matmul(a, a)
""",
    "fla/ops/utils/softmax.py": 'softmax_fwd(torch.randn(512, 64, device="cuda"))',
    "fla/ops/delta_rule/wy_fast.py": _HEADS
    + """
A = torch.randn(2, 512, 4, 64, device="cuda", dtype=torch.bfloat16)
recompute_w_u_fwd(k, v, beta, A, None)
prepare_wy_repr_bwd(k, v, beta, A, k, v, None)
""",
    "fla/ops/common/fused_recurrent.py": _HEADS + "fused_recurrent(q, k, v, g)[0].sum().backward()",
    "fla/ops/retention/parallel.py": _HEADS + "parallel_retention(q, k, v)[0].sum().backward()",
    "fla/ops/linear_attn/fused_chunk.py": _HEADS + "fused_chunk_linear_attn(q, k, v)[0].sum().backward()",
    "fla/ops/attn/parallel.py": _HEADS + "parallel_attn(q, k, v).sum().backward()",
    "fla/ops/delta_rule/fused_recurrent.py": _HEADS
    + "fused_recurrent_delta_rule(q, k, v, beta)[0].sum().backward()",
    "fla/ops/gated_delta_rule/fused_recurrent.py": _HEADS
    + "fused_recurrent_gated_delta_rule(q, k, v, g, beta=beta)",
}
