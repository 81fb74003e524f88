"""Test the findings about loops with matrix products: their advice, if followed, has the promised effect."""

import json

import pytest
from tritons import TRITONS

from explorer.analysis.assembly.matrix_loops import matrix_loops
from explorer.analysis.mlir.operations import read_functions
from explorer.analysis.mlir.regular_pointers import RegularPointers
from explorer.analysis.source_edits import edited
from explorer.errors import NotFound
from explorer.examples import find_example
from explorer.model import LineEdit
from explorer.queries import finding_changes, findings
from explorer.queries.findings import loop_overhead
from explorer.queries.findings.case import Case
from explorer.queries.query import Subject
from explorer.store import Record

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
#: The advice for offsets of 64 bits: the start of the tile is added before the loop.
IN_32_BITS = {
    "    for k": "    a += tl.program_id(0).to(tl.int64) * BM * am\n    rows = tl.arange(0, BM)\n    for k",
    "rm[:, None].to(tl.int64) * am": "rows[:, None] * am",
    "rk[:, None].to(tl.int64) * bk": "rk[:, None] * bk",
}
#: Indices of 64 bits, before they are multiplied.
EARLY = {"rk = k + tl.arange(0, BK)": "rk = (k + tl.arange(0, BK)).to(tl.int64)"}
COMBINED = {
    "mask=rk[None, :] < K": "mask=(rm[:, None] < M) & (rk[None, :] < K)",
    "mask=rk[:, None] < K": "mask=(rk[:, None] < K) & (rn[None, :] < N)",
}
#: Pointers that the loop carries.
STEPS = {
    "    for k": """    rk = tl.arange(0, BK)
    x_pointers = a + rm[:, None] * am + rk[None, :]
    y_pointers = b + rk[:, None] * bk + rn[None, :]
    for k""",
    "a + rm[:, None] * am + rk[None, :])\n": "x_pointers)\n        x_pointers += BK\n",
    "b + rk[:, None] * bk + rn[None, :])\n": "y_pointers)\n        y_pointers += BK * bk\n",
}
#: The advice to use descriptors, which the launch or the kernel makes.
LOADS = {
    "tl.load(a + rm[:, None] * am + rk[None, :])": "a.load([tl.program_id(0) * BM, k])",
    "tl.load(b + rk[:, None] * bk + rn[None, :])": "b.load([k, tl.program_id(1) * BN])",
}
DESCRIPTORS = {
    "of the launch": {
        **LOADS,
        "import torch\n": "import torch\nfrom triton.tools.tensor_descriptor import TensorDescriptor\n",
        "](a, b": "](TensorDescriptor.from_tensor(a, [128, 64]), TensorDescriptor.from_tensor(b, [64, 128])",
    },
    "of the kernel": {
        **LOADS,
        "    for k": """    a = tl.make_tensor_descriptor(a, (M, K), (am, 1), (BM, BK))
    b = tl.make_tensor_descriptor(b, (K, N), (bk, 1), (BK, BN))
    for k""",
    },
}
#: Changes after which no descriptor can load a block of the kernel.
IRREGULAR = {
    "rows of an index": {
        "        x = ": "        rk = tl.load(index + rk)\n        x = ",
    },
    "remainder": {"rk = k + tl.arange(0, BK)": "rk = (k + tl.arange(0, BK)) % K"},
    "stride": {"a.stride(0), b.stride(0)": "4095, 4095"},
    "columns apart": {
        "+ rk[None, :]": "+ rk[None, :] * 2",
        "+ rn[None, :])\n        acc": "+ rn[None, :] * 2)\n        acc",
    },
    "stride of a turn": {"* am": "* (am + k // BK * 64)", "* bk": "* (bk + k // BK * 64)"},
}
#: A product of two blocks in a batch, whose first operand is equal along the last dimension.
BATCHED = """import torch
import triton
import triton.language as tl

@triton.jit
def batched(a, b, c, K, am, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    batches = tl.arange(0, B)
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    acc = tl.zeros((B, M, N), tl.float32)
    for k in tl.range(0, K, BK):
        inner = k + tl.arange(0, BK)
        places = (batches[:, None] * am + rows[None, :])[:, :, None]
        x = tl.load(tl.broadcast_to(a + k * BK + places, (B, M, BK)))
        y = tl.load(b + batches[:, None, None] * am + inner[None, :, None] * N + columns[None, None, :])
        acc = tl.dot(x, y, acc)
    at = batches[:, None, None] * M * N + rows[None, :, None] * N + columns[None, None, :]
    tl.store(c + at, acc)

x = torch.empty(1 << 20, device="cuda", dtype=torch.float16)
c = torch.empty(1 << 20, device="cuda")
batched[(1,)](x, x, c, 1024, 64, B=2, M=64, N=64, BK=64)
"""


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
        answer = answer_of(query_service, findings.QUERY, record)
        return [each for each in answer["findings"] if each["rule"] == rule]

    return find


@pytest.fixture
def instructions(compile_source):
    """Count the instructions of a turn of the loop."""

    def instructions(source, triton=None):
        record = compile_source(source, triton=triton)
        (loop,) = matrix_loops(record.text(record.stage("sass").text), "sass")
        return len(loop.instructions)

    return instructions


@pytest.fixture
def proven(query_service, compile_source, find):
    """Return the texts of the changes that remove the first finding of a rule."""

    def proven(source, rule, triton):
        before = compile_source(source, triton=triton)
        rules = [each["rule"] for each in answer_of(query_service, findings.QUERY, before)["findings"]]
        found = []
        for change in find(source, rule, triton=triton)[0]["changes"]:
            lines = edited(source, [LineEdit(**each) for each in change["edits"]])
            answer = answer_of(
                query_service, finding_changes.QUERY, before, compile_source(lines, triton=triton)
            )
            if answer["verdicts"][rules.index(rule)]["is_proven"]:
                found.append(change["text"])
        return found

    return proven


def answer_of(query_service, query, *records):
    return json.loads(query_service.answer(query, records, {}))


@pytest.mark.parametrize(("masks", "triton"), [*[((), each) for each in TRITONS], ((ALONG_K,), TRITONS[0])])
def test_offsets_of_32_bits_make_a_loop_shorter(find, instructions, masks, triton):
    before = changed(*masks, IN_64_BITS)
    (finding,) = find(before, "loop_overhead", triton=triton)
    total = instructions(before, triton)
    values = {each["name"]: each["value"] for each in finding["evidence"]}
    assert values["instructions of a turn"] == total
    assert values["matrix instructions"] == 8  # of m64n128k16, for 128 × 128 × 64
    assert finding["text"].startswith(f"Each turn of the loop has {total} instructions: 8 are matrix ")
    assert finding["cause"].endswith("Each turn computes offsets of loads in 64 bits.")
    assert finding["source_line"] in (12, 13)
    assert finding["severity"] == "warning"
    after = changed(*masks, IN_64_BITS, IN_32_BITS)
    assert "warning" not in {each["severity"] for each in find(after, "loop_overhead", triton=triton)}
    assert instructions(after, triton) < total


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("source", [IN_64_BITS, EARLY], ids=["products", "indices"])
def test_the_change_to_offsets_of_32_bits_removes_the_finding(find, proven, source, triton):
    (finding,) = find(changed(source), "loop_overhead", triton=triton)
    (change,) = finding["changes"]
    assert change["text"].endswith(": offsets of 32 bits, which must fit in every launch")
    assert all("int64" not in each["text"] for each in change["edits"])
    assert change["is_exact"]
    assert proven(changed(source), "loop_overhead", triton) == [change["text"]]


def test_a_loop_whose_overhead_was_hidden_by_spills_does_not_stand_against_more_warps(
    query_service, compile_source
):
    source = changed(IN_64_BITS, {"BM=128, BN=128": "BM=256, BN=128"})
    before, after = compile_source(source), compile_source(source, num_warps=8)
    answer = answer_of(query_service, finding_changes.QUERY, before, after)
    assert {"spills", "large_tensors"} <= {each["rule"] for each in answer["vanished"]}
    assert [(each["rule"], each["severity"]) for each in answer["appeared"]] == [("loop_overhead", "warning")]
    assert not answer["is_worse"]
    (loop,) = (each["cost"] for each in answer["appeared"])
    left = f"`loop_overhead` is left, {round(100 * loop['share'])} % of the {loop['of']}"
    assert {(each["is_proven"], each["text"]) for each in answer["verdicts"] if each["is_removed"]} == {
        (True, f"proven in the compiler; {left}")
    }
    back = answer_of(query_service, finding_changes.QUERY, after, before)
    assert back["is_worse"]
    cost = next(each["cost"] for each in back["appeared"] if each["rule"] == "spills")
    (verdict,) = (each for each in back["verdicts"] if each["is_removed"])
    assert not verdict["is_proven"]
    assert f"`spills` appears, {round(100 * cost['share'])} % of the {cost['of']}" in verdict["text"]
    assert "`large_tensors` appears" in verdict["text"].split("; ")


@pytest.mark.parametrize(
    "more",
    [
        # An offset of the second load is 8,191 · 2**18 and more.
        {"4096, 4096, 4096,": "4096, 4096, 8192,", "b.stride(0)": "1 << 18"},
        {"    for k": "    bk += 16 * tl.load(index)\n    for k"},
    ],
    ids=["too large", "not known"],
)
def test_offsets_that_need_64_bits_stay(find, more):
    source = changed(IN_64_BITS, more)
    (finding,) = find(source, "loop_overhead")
    assert finding["severity"] == "warning"
    assert finding["changes"] == []
    guessed = find(source[: source.index("\na = ")], "loop_overhead")
    assert [each for finding in guessed for each in finding["changes"]] == []


@pytest.mark.parametrize("triton", TRITONS)
def test_loads_without_masks_that_are_always_true_remove_the_finding(find, proven, triton):
    source = changed(ALONG_K, COMBINED)
    (finding,) = find(source, "loop_overhead", triton=triton)
    (change,) = finding["changes"]
    assert [each["line"] for each in change["edits"]] == [12, 13]
    assert all("mask" not in each["text"] for each in change["edits"])
    assert proven(source, "loop_overhead", triton) == [change["text"]]


def test_a_mask_that_is_sometimes_false_stays(find):
    source = changed(ALONG_K, COMBINED, {"4096, 4096, 4096,": "4096, 4096, 4095,"})
    (finding,) = find(source, "loop_overhead")
    assert finding["changes"] == []
    source = changed(ALONG_K, COMBINED, {"4096, 4096, 4096,": "4095, 4096, 4096,"})
    (finding,) = find(source, "loop_overhead")
    assert [each["line"] for change in finding["changes"] for each in change["edits"]] == [13]


def test_a_module_that_is_not_known_hides_no_finding(compile_source, monkeypatch):
    def fail(_record, _index):
        raise NotFound("The module is too large.")

    record = compile_source(changed(ALONG_K, COMBINED))
    monkeypatch.setattr(Record, "text_before_pass", fail)
    (finding,) = loop_overhead.find(Case(Subject((record,), {}, None)))
    assert finding.severity == "note"


def test_many_integer_instructions_without_a_known_cause_are_a_note(find):
    (finding,) = find(changed(ALONG_K, COMBINED), "loop_overhead")
    assert (finding["severity"], finding["advice"]) == ("note", "")
    assert "lines " in finding["cause"]


@pytest.mark.parametrize("target", ["cuda:90", "cuda:80", "hip:gfx942"])
@pytest.mark.parametrize("example", ["matmul", "matmul_persistent", "flash_attention"])
def test_good_loops_are_no_finding(find, example, target):
    assert find(find_example(example).source, "loop_overhead", target) == []


@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("place", DESCRIPTORS)
def test_a_descriptor_makes_the_loop_shorter(find, instructions, compile_source, place, triton):
    found = find(changed(), "descriptors", triton=triton)
    assert [(each["source_line"], each["severity"]) for each in found] == [(12, "note"), (13, "note")]
    assert "128×64 `f16`" in found[0]["text"]
    assert {each["name"]: each["value"] for each in found[0]["evidence"]}["consecutive bytes of a row"] == 128
    after = changed(DESCRIPTORS[place])
    record = compile_source(after, triton=triton)
    assert "ttng.async_tma_copy_global_to_local" in record.text(record.stage("ttgir").text)
    assert find(after, "descriptors", triton=triton) == []
    assert instructions(after, triton) < instructions(changed(), triton)


@pytest.mark.parametrize(
    "changes", [(ALONG_K,), (ALONG_K, COMBINED), (STEPS,)], ids=["mask", "masks", "steps"]
)
def test_a_descriptor_can_load_a_block_with_bounds_or_pointers_that_move(find, changes):
    assert len(find(changed(*changes), "descriptors")) == 2


@pytest.mark.parametrize("name", IRREGULAR)
def test_no_descriptor_is_proposed_for_other_blocks(find, name):
    assert find(changed(IRREGULAR[name]), "descriptors") == []


def test_no_descriptor_is_proposed_for_a_block_of_three_dimensions(find, compile_source):
    record = compile_source(BATCHED)
    functions = read_functions(record.text(record.stage("ttgir").text))
    assert [each for function in functions for each in RegularPointers(function).boxes()]
    assert find(BATCHED, "descriptors") == []


def test_no_descriptor_is_proposed_without_a_copy_engine_or_for_other_masks(find):
    assert find(changed(), "descriptors", "cuda:80") == []
    triangle = {"rk[None, :])": "rk[None, :], mask=rm[:, None] > rk[None, :], other=0.0)"}
    assert [each["source_line"] for each in find(changed(triangle), "descriptors")] == [13]
    above = {"rk[None, :])": "rk[None, :], mask=rk[None, :] > M, other=0.0)"}
    assert [each["source_line"] for each in find(changed(above), "descriptors")] == [13]
    ones = {"rk[None, :])": "rk[None, :], mask=rk[None, :] < K, other=1.0)"}
    assert [each["source_line"] for each in find(changed(ones), "descriptors")] == [13]
