"""Test the findings of registers and occupancy, and the launches that they propose."""

import json
import re

import pytest
from finding_sources import ADD, LARGE, PRODUCT, TWO_LAYERS, changed
from tritons import TRITONS

from explorer.queries import finding_changes


def test_a_low_occupancy_is_no_finding_if_the_gpu_holds_the_whole_grid_at_once(find):
    large = changed(PRODUCT, {"BM=64, BN=64": "BM=128, BN=128", "num_warps=4": "num_stages=4"})
    small = changed(large, {"grid = lambda meta: (4096": "grid = lambda meta: (256"})
    for source, expected in ((large, 1), (small, 0)):
        rules = [each["rule"] for each in find(source)["findings"]]
        assert rules.count("occupancy_limit") == expected


def test_spills_name_stores_and_loads_and_cost_the_registers_that_are_missing(find, compiled):
    source = changed(PRODUCT, LARGE)
    resources = compiled(source).result.resources
    (spills,) = (each for each in find(source)["findings"] if each["rule"] == "spills")
    assert spills["text"].endswith(
        f"; spill instructions of a thread store {resources.spill_stores_bytes:,} bytes "
        f"and load {resources.spill_loads_bytes:,}."
    )
    values = {each["name"]: each["value"] for each in spills["evidence"]}
    assert values["stack of a thread"] == resources.stack_bytes
    needed = values["registers of the tensors alive at once"]
    assert spills["cost"]["of"] == "registers that the tensors alive at once need are missing"
    assert spills["cost"]["share"] == pytest.approx((needed - 255) / needed)


def test_a_fallback_to_few_registers_takes_the_place_of_its_warning_and_of_its_spills(find):
    source = changed(ADD, {"BLOCK=1024": "BLOCK=32768"})
    found = {each["rule"]: each for each in find(source)["findings"]}
    cliff = found["register_cliff"]
    assert not {"messages", "serialized_products", "spills"} & set(found)
    assert re.fullmatch(
        r"ptxas has fallen back to \d+ of 255 possible registers of a thread; "
        r"spill instructions of a thread store [\d,]+ bytes and load [\d,]+.",
        cliff["text"],
    )
    assert cliff["cause"].startswith("The tensors alive at once need ")
    assert [each["text"] for each in cliff["changes"]] == [
        "warps 4 → 8",
        "warps 4 → 16",
        "BLOCK 32768 → 16384",
    ]
    more_warps = find(source, options=cliff["changes"][0]["options"])["findings"]
    assert "register_cliff" not in {each["rule"] for each in more_warps}


@pytest.mark.parametrize(
    ("block", "element", "held"), [(1024, "float32", 32), (1024, "float16", 16), (128, "float32", None)]
)
def test_a_thread_moves_the_bytes_of_its_elements(find, block, element, held):
    source = changed(
        ADD,
        {
            "x, x, x, 1 << 20, BLOCK=1024": f"x, x, x, (1 << 20) - 3, BLOCK={block}",
            '"cuda")': f'"cuda", dtype=torch.{element})',
        },
    )
    found = [each for each in find(source)["findings"] if each["rule"] == "narrow_accesses"]
    values = {each["value"] for one in found for each in one["evidence"] if "thread" in each["name"]}
    assert values == ({held} if held else set())


def test_many_more_warps_are_proposed_where_twice_the_warps_cannot_help(find):
    source = changed(ADD, {"BLOCK=1024": "BLOCK=65536"})
    (cliff,) = (each for each in find(source)["findings"] if each["rule"] == "register_cliff")
    needed = int(re.search(r"need ([\d,]+) registers", cliff["cause"])[1].replace(",", ""))
    warps = [each["options"]["num_warps"] for each in cliff["changes"] if "num_warps" in each["options"]]
    assert 4 * needed > 16 * 2 * 128, "a thread of 16 warps can have 128 registers"
    assert warps == [32]
    rules = {each["rule"] for each in find(source, options=cliff["changes"][0]["options"])["findings"]}
    assert "register_cliff" not in rules


def test_only_sizes_of_the_tensors_in_question_are_proposed(find):
    """The accumulator does not depend on BK, and the bias only on BN, whose buffers cannot be larger."""

    def constants(source, rule):
        found = [each for each in find(source)["findings"] if each["rule"] == rule]
        return found, {name for each in found for change in each["changes"] for name in change["constants"]}

    assert constants(changed(PRODUCT, LARGE), "large_tensors")[1] == {"BM", "BN"}
    bias = {
        "(a, b, c, M": "(a, b, c, bias, M",
        "    tl.store(c": "    acc += tl.load(bias + rn)[None, :]\n    tl.store(c",
        "grid](a, b, c,": "grid](a, b, c, torch.empty(4096, device='cuda', dtype=torch.float16),",
    }
    (narrow,), names = constants(
        changed(PRODUCT, bias | {"BM=64, BN=64": "BM=128, BN=64"}), "narrow_accesses"
    )
    assert names == {"BN"}
    assert narrow["severity"] == "note"
    assert 0 < narrow["cost"]["share"] < 0.05
    full = {"BM=64, BN=64, BK=64": "BM=128, BN=64, BK=128", "num_warps=4": "num_warps=4, num_stages=4"}
    (_,), names = constants(changed(PRODUCT, bias | full), "narrow_accesses")
    assert names == set()


def test_changes_of_the_launch_are_proposed_and_remove_the_finding(find):
    """At least one change that a finding proposes removes it."""
    source = changed(PRODUCT, LARGE)
    (spills,) = (each for each in find(source)["findings"] if each["rule"] == "spills")
    assert [each["options"] or each["constants"] for each in spills["changes"]] == [
        {"num_warps": 8},
        {"num_warps": 16},
        {"BM": 128},
        {"BN": 128},
        {"BM": 128, "BN": 128},
    ]
    change = spills["changes"][-1]
    after = find(source, options=change["options"], constants=change["constants"])
    assert "spills" not in {each["rule"] for each in after["findings"]}


def test_spills_name_the_variables_of_the_lines_that_spill(find):
    """The offsets need as much as the values, but the assembler computes them again. The mask has no name."""
    source = changed(
        ADD,
        {
            "    total = tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask)\n": (
                "    value = tl.load(x + offsets, mask=offsets < n, other=0).to(tl.float32)\n"
                "    total = tl.sum(tl.exp(value - tl.max(value, 0)), 0)\n"
            ),
            "tl.store(out + offsets, total, mask=mask)": "tl.store(out + tl.program_id(0), total)",
            "BLOCK=1024": "BLOCK=65536",
            'device="cuda")': 'device="cuda", dtype=torch.bfloat16)',
        },
    )
    (finding,) = (each for each in find(source)["findings"] if each["rule"] in ("spills", "register_cliff"))
    assert finding["source_line"] == 10
    assert finding["cause"].partition(": ")[2] == "`value` (65536 f32) needs 512."


def test_spills_of_tensors_that_fit_alone_name_all_of_them(find):
    source = changed(
        PRODUCT,
        {
            "    acc = tl.zeros": "    total = tl.zeros((BM, BN), tl.float32)\n    acc = tl.zeros",
            "acc = tl.dot(x, y, acc)\n": (
                "acc = tl.dot(x, y, acc)\n"
                "        if (k // BK) % 4 == 3:\n"
                "            total += acc\n"
                "            acc = tl.zeros((BM, BN), tl.float32)\n"
            ),
            "None, :], acc)": "None, :], total + acc)",
            "(k + rk)[None, :])": "(k + rk)[None, :], mask=(k + rk)[None, :] < K, other=0.0)",
            "BM=64, BN=64": "BM=128, BN=128",
        },
    )
    (spills,) = (each for each in find(source)["findings"] if each["rule"] == "spills")
    assert spills["text"].startswith("The tensors alive at once need ")
    assert "`acc` (2 × 128×128 f32) needs 256 and `total` (128×128 f32) needs 128" in spills["cause"]


@pytest.mark.parametrize("triton", TRITONS)
def test_serialized_products_run_together_in_smaller_tiles(query_service, compiled, find, triton):
    before = compiled(TWO_LAYERS, triton=triton)
    found = find(TWO_LAYERS, triton=triton)["findings"]
    index = [each["rule"] for each in found].index("serialized_products")
    assert "a thread has too few registers" in found[index]["text"]
    changes = {each["text"]: each for each in found[index]["changes"]}
    assert "warps 4 → 8" in changes
    after = compiled(TWO_LAYERS, triton=triton, constants=changes["BM 128 → 64"]["constants"])
    answer = json.loads(query_service.answer(finding_changes.QUERY, (before, after), {}))
    assert answer["verdicts"][index]["is_proven"]
