"""Test the findings of atomics that become loops."""

import pytest
from finding_sources import changed
from tritons import TRITONS

SUM = """import torch
import triton
import triton.language as tl

@triton.jit
def summed(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.atomic_add(out + at % 16, tl.load(x + at))

x = torch.empty(1024, device="cuda", dtype=torch.float32)
out = torch.empty(16, device="cuda", dtype=torch.float32)
summed[(1,)](x, out, BLOCK=1024)
"""


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize(
    ("target", "name", "number"),
    [("cuda:80", "bfloat16", 8), ("hip:gfx1100", "float16", 4), ("hip:gfx1100", "float64", 8)],
)
def test_an_atomic_addition_that_is_a_loop_is_found_and_its_advice_removes_it(
    find, target, name, number, triton
):
    def loops(*compilation):
        return [each for each in find(*compilation)["findings"] if each["rule"] == "atomic_loops"]

    (loop,) = loops(changed(SUM, {"torch.float32": f"torch.{name}"}), target, triton)
    assert (loop["source_line"], loop["evidence"][0]["value"]) == (8, number)
    assert f"becomes {number} instructions of compare-and-swap, each in a loop (`" in loop["text"]
    assert "Add to values of fp32" in loop["advice"]
    assert loops(SUM, target, triton if "Triton 3.9" not in loop["advice"] else "3.9.0") == []


def test_the_scope_of_all_memory_makes_a_loop_and_a_narrower_scope_removes_it(find):
    source = changed(SUM, {"tl.load(x + at)": 'tl.load(x + at), scope="sys"'})
    (loop,) = (each for each in find(source, "hip:gfx942")["findings"] if each["rule"] == "atomic_loops")
    assert (
        "With the scope `sys`, LLVM uses it only if the memory is known not to be fine-grained"
        in loop["cause"]
    )
    assert 'Use `scope="gpu"`' in loop["advice"]
    narrower = find(changed(source, {"sys": "gpu"}), "hip:gfx942")["findings"]
    assert "atomic_loops" not in {each["rule"] for each in narrower}


def test_a_compare_and_swap_of_the_source_is_no_finding(find):
    addition = "tl.atomic_add(out + at % 16, tl.load(x + at))"
    source = changed(SUM, {addition: "tl.atomic_cas(out + at, at, at)", "float32": "int32"})
    assert "atomic_loops" not in {each["rule"] for each in find(source)["findings"]}
