"""Test the findings about loops with matrix products: their advice, if followed, has the promised effect."""

import json

import pytest

from explorer.analysis.assembly.matrix_loops import matrix_loops
from explorer.queries import findings

PRODUCT = """import torch
import triton
import triton.language as tl

@triton.jit
def product(a, b, c, index, M, N, K, am, bk, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * am + rk[None, :])
        y = tl.load(b + rk[:, None] * bk + rn[None, :])
        acc = tl.dot(x, y, acc)
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=rm[:, None] < M)

a = torch.empty((4096, 4096), device="cuda", dtype=torch.float16)
b = torch.empty((4096, 4096), device="cuda", dtype=torch.float16)
c = torch.empty((4096, 4096), device="cuda")
index = torch.empty(4096, device="cuda", dtype=torch.int32)
grid = lambda meta: (4096 // meta["BM"], 4096 // meta["BN"])
product[grid](a, b, c, index, 4096, 4096, 4096, a.stride(0), b.stride(0), BM=128, BN=128, BK=64)
"""
#: Changes of PRODUCT.
ALONG_K = {
    "rk[None, :])": "rk[None, :], mask=rk[None, :] < K, other=0.0)",
    "rn[None, :])\n        acc": "rn[None, :], mask=rk[:, None] < K, other=0.0)\n        acc",
}
IN_64_BITS = {"rm[:, None] * am": "rm[:, None].to(tl.int64) * am", " * bk": ".to(tl.int64) * bk"}
#: The advice for offsets of 64 bits: the start of the block is added before the loop.
IN_32_BITS = {
    "    for k": "    a += tl.program_id(0).to(tl.int64) * BM * am\n    rows = tl.arange(0, BM)\n    for k",
    "rm[:, None].to(tl.int64) * am": "rows[:, None] * am",
    "rk[:, None].to(tl.int64) * bk": "rk[:, None] * bk",
}
COMBINED = {
    "mask=rk[None, :] < K": "mask=(rm[:, None] < M) & (rk[None, :] < K)",
    "mask=rk[:, None] < K": "mask=(rk[:, None] < K) & (rn[None, :] < N)",
}
#: The advice for combined masks.
WRAPPED = {
    "mask=(rm[:, None] < M) & (rk[None, :] < K)": "mask=rk[None, :] < K",
    "mask=(rk[:, None] < K) & (rn[None, :] < N)": "mask=rk[:, None] < K",
    "    acc = tl.zeros": "    rm = rm % M\n    rn = rn % N\n    acc = tl.zeros",
}
#: The advice to use descriptors.
DESCRIPTORS = {
    "    for k": """    x_descriptor = tl.make_tensor_descriptor(a, (M, K), (am, 1), (BM, BK))
    y_descriptor = tl.make_tensor_descriptor(b, (K, N), (bk, 1), (BK, BN))
    for k""",
    "tl.load(a + rm[:, None] * am + rk[None, :])": "x_descriptor.load([tl.program_id(0) * BM, k])",
    "tl.load(b + rk[:, None] * bk + rn[None, :])": "y_descriptor.load([k, tl.program_id(1) * BN])",
}
#: Changes after which no descriptor can load a block of the kernel.
IRREGULAR = {
    "rows of an index": {
        "        y = ": "        rk = tl.load(index + rk)\n        y = ",
        "* am": "* am * 0",
    },
    "remainder": {"rk = k + tl.arange(0, BK)": "rk = (k + tl.arange(0, BK)) % K"},
    "stride": {"a.stride(0), b.stride(0)": "4095, 4095"},
    "columns apart": {
        "+ rk[None, :]": "+ rk[None, :] * 2",
        "+ rn[None, :])\n        acc": "+ rn[None, :] * 2)\n        acc",
    },
    "stride of a turn": {"* am": "* (am + k // BK * 64)", "* bk": "* (bk + k // BK * 64)"},
}


def changed(*changes):
    source = PRODUCT
    for old, new in (each for one in changes for each in one.items()):
        assert old in source
        source = source.replace(old, new)
    return source


@pytest.fixture
def find(query_service, compile_source):
    def find(source, rule, target="cuda:90", triton=None):
        record = compile_source(source, target, triton)
        assert record.status == "complete", record.result.error_messages
        answer = json.loads(query_service.answer(findings.QUERY, (record,), {}))
        return [each for each in answer["findings"] if each["rule"] == rule]

    return find


@pytest.fixture
def instructions(compile_source):
    """Count the instructions of a turn of the loop."""

    def instructions(source):
        record = compile_source(source)
        (loop,) = matrix_loops(record.text(record.stage("sass").text), "sass")
        return len(loop.instructions)

    return instructions


@pytest.mark.parametrize(
    ("before", "advice", "cause", "lines"),
    [
        ((ALONG_K, IN_64_BITS), IN_32_BITS, "Each turn computes offsets of loads in 64 bits.", {12, 13}),
        ((ALONG_K, COMBINED), WRAPPED, "Each turn combines masks of rows and columns.", {12, 13}),
    ],
    ids=["64 bits", "masks"],
)
def test_advice_for_a_loop_with_many_integer_instructions(find, instructions, before, advice, cause, lines):
    (finding,) = find(changed(*before), "loop_overhead")
    assert finding["cause"].endswith(cause)
    assert finding["source_line"] in lines
    assert find(changed(*before, advice), "loop_overhead") == []
    assert instructions(changed(*before, advice)) < instructions(changed(*before))


def test_a_loop_is_described_by_the_instructions_of_each_turn(find, instructions):
    source = changed(ALONG_K, IN_64_BITS, COMBINED)
    (finding,) = find(source, "loop_overhead")
    total = instructions(source)
    values = {each["name"]: each["value"] for each in finding["evidence"]}
    assert values["instructions of a turn"] == total
    assert values["matrix instructions"] == 8  # of m64n128k16, for 128 × 128 × 64
    assert finding["text"].startswith(f"Each turn of the loop has {total} instructions: 8 are matrix ")
    assert finding["advice"].count("before") == 2


@pytest.mark.parametrize("target", ["cuda:90", "cuda:80"])
@pytest.mark.parametrize("changes", [(), (ALONG_K,)], ids=["no mask", "a mask along K"])
def test_a_loop_with_few_integer_instructions_is_no_finding(find, changes, target):
    assert find(changed(*changes), "loop_overhead", target) == []


@pytest.mark.parametrize("masks", [(), (ALONG_K,), (ALONG_K, COMBINED)], ids=["none", "one", "two"])
def test_a_descriptor_can_load_a_box_and_makes_the_loop_shorter(find, instructions, compile_source, masks):
    found = find(changed(*masks), "descriptors")
    assert [each["source_line"] for each in found] == [12, 13]
    assert "128×64 `f16`" in found[0]["text"]
    assert {each["severity"] for each in found} == {"note"}
    record = compile_source(changed(DESCRIPTORS))
    assert "ttng.async_tma_copy_global_to_local" in record.text(record.stage("ttgir").text)
    assert find(changed(DESCRIPTORS), "descriptors") == []
    assert instructions(changed(DESCRIPTORS)) < instructions(changed(*masks))


@pytest.mark.parametrize("name", IRREGULAR)
def test_no_descriptor_is_proposed_for_other_blocks(find, name):
    lines = {each["source_line"] for each in find(changed(IRREGULAR[name]), "descriptors")}
    assert lines <= ({12} if name == "rows of an index" else set())


def test_no_descriptor_is_proposed_without_a_copy_engine_or_for_other_masks(find):
    assert find(changed(), "descriptors", "cuda:80") == []
    triangle = {"rk[None, :])": "rk[None, :], mask=rm[:, None] > rk[None, :], other=0.0)"}
    assert [each["source_line"] for each in find(changed(triangle), "descriptors")] == [13]
    ones = {"rk[None, :])": "rk[None, :], mask=rk[None, :] < K, other=1.0)"}
    assert [each["source_line"] for each in find(changed(ones), "descriptors")] == [13]
