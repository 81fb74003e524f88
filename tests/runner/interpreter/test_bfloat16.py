"""The interpreter computes with bfloat16 as PyTorch does, to the last bit."""

from typing import Any

import numpy as np
import torch

from explorer.runner.interpreter.bfloat16 import narrow, widen

KERNEL = """
@triton.jit
def compute(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    result = {expression}
    tl.store(out_ptr + offsets, result)


x = torch.randn(512, device="cuda", dtype=torch.bfloat16)
y = torch.randn(512, device="cuda", dtype=torch.bfloat16)
out = torch.empty(512, device="cuda", dtype=torch.{dtype})
compute[(1,)](x, y, out, BLOCK=512)
assert torch.equal(out, ({torch}).to(out.dtype)), (out, {torch})
"""


def test_every_number_survives():
    bits = np.arange(1 << 16, dtype=np.uint16)
    back = narrow(widen(bits))
    is_number = ~np.isnan(widen(bits))
    assert np.array_equal(back[is_number], bits[is_number])
    assert np.isnan(widen(back[~is_number])).all()


def test_rounding_is_pytorchs():
    generator = np.random.default_rng(0)
    bits = generator.integers(0, 1 << 32, 1 << 18, dtype=np.uint32)
    ties = (np.arange(1 << 16, dtype=np.uint32) << 16) | 0x8000
    numbers = np.concatenate((bits, ties, ties - 1, ties + 1)).view(np.float32)
    numbers = numbers[~np.isnan(numbers)]
    expected = torch.from_numpy(numbers).to(torch.bfloat16).view(torch.uint16).numpy()
    assert np.array_equal(narrow(numbers), expected)
    one: Any = np.float32(1.0)  # what indexing an array of no dimensions gives
    assert narrow(one).shape == () and narrow(np.zeros((2, 3), np.float32)).shape == (2, 3)


def test_arithmetic(interpret):
    cases = [
        ("x + y", "x + y", "bfloat16"),
        ("x * y - x", "x * y - x", "bfloat16"),
        ("-x", "-x", "bfloat16"),
        ("tl.maximum(x, y)", "torch.maximum(x, y)", "bfloat16"),
        ("tl.where(x > y, x, y + 1.0)", "torch.where(x > y, x, y + 1.0)", "bfloat16"),
        ("x <= y", "x <= y", "int8"),
        ("x.to(tl.float16)", "x", "float16"),
        ("(x * 100).to(tl.int32)", "(x * 100).int()", "int32"),
        ("tl.sum(x.to(tl.float32) * 0) + offsets.to(tl.bfloat16)", "torch.arange(512).float()", "bfloat16"),
    ]
    for expression, in_torch, dtype in cases:
        told = interpret(KERNEL.format(expression=expression, torch=in_torch, dtype=dtype))
        assert told.errors == [], expression
        assert told.status == "complete", expression


def test_operations_keep_their_type_in_the_counts(interpret):
    told = interpret(KERNEL.format(expression="x + y", torch="x + y", dtype="bfloat16"))
    assert told.counts["flops"] == {"bf16": 512}


def test_products(interpret):
    told = interpret("""
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr):
    places = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    product = tl.dot(tl.load(a_ptr + places), tl.load(b_ptr + places))
    tl.store(c_ptr + places, product.to(tl.bfloat16))


def reference(a, b):
    return a @ b


a = torch.randn(32, 32, device="cuda", dtype=torch.bfloat16)
b = torch.randn(32, 32, device="cuda", dtype=torch.bfloat16)
c = torch.empty_like(a)
matmul[(1,)](a, b, c, 32)
""")
    assert told.check["outputs"][0]["matches"]
    assert told.check["outputs"][0]["relative_error"] < 3e-3
    assert told.counts["flops"] == {"tensor bf16": 2 * 32**3}
