"""Test the findings about the sectors of all instructions of an access together."""

import json

import pytest
from finding_sources import ADD, APART, changed
from tritons import TRITONS

from explorer.queries import findings, layouts

COLUMNS = """import torch
import triton
import triton.language as tl

@triton.jit
def double(x, out, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    offsets = rows[:, None] * stride + columns[None, :]
    tl.store(out + offsets, tl.load(x + offsets) * 2)

x = torch.empty((4096, 4096), device="cuda", dtype=torch.float16)
grid = lambda meta: (4096 // meta["ROWS"], 4096 // meta["COLUMNS"])
double[grid](x, torch.empty_like(x), x.stride(0), ROWS=128, COLUMNS=4)
"""


def test_a_larger_block_makes_rows_fill_their_sectors(compile_source, query_service):
    def find(source):
        return json.loads(query_service.answer(findings.QUERY, (compile_source(source),), {}))["findings"]

    found = find(COLUMNS)
    assert [each["rule"] for each in found] == ["sectors", "sectors"]  # the load and the store
    for each in found:
        assert each["cause"] == "The tile has only 4 elements along the dimension of consecutive addresses."
        assert [change["constants"] for change in each["changes"]] == [{"COLUMNS": 8}]
    assert find(COLUMNS.replace("COLUMNS=4", "COLUMNS=8")) == []


@pytest.mark.parametrize("triton", TRITONS)
def test_narrow_instructions_that_share_their_sectors_waste_none(compile_source, query_service, triton):
    """The four loads of a thread need the same sectors: L1 has them after the first."""
    record = compile_source(changed(ADD, {"x, x, x, 1 << 20": "x, x, x, (1 << 20) - 3"}), triton=triton)
    found = json.loads(query_service.answer(findings.QUERY, (record,), {}))["findings"]
    assert {each["rule"] for each in found} == {"narrow_accesses"}
    for each in json.loads(query_service.answer(layouts.QUERY, (record,), {}))["accesses"]:
        assert each["sector_share"] == 0.25
        assert each["together"] == {"sectors": 128, "used_bytes": 4096}
        assert "all instructions of the operation together use 100 %" in each["words"]


def test_a_strided_access_wastes_sectors_however_many_instructions_it_has(compile_source, query_service):
    record = compile_source(changed(ADD, {"tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)": APART}))
    found = json.loads(query_service.answer(findings.QUERY, (record,), {}))["findings"]
    assert [each["rule"] for each in found] == ["sectors"] * 2
    for each in found:
        assert [value["value"] for value in each["evidence"]] == [1024, 4096]


STRIDED = """import torch
import triton
import triton.language as tl

@triton.jit
def gather(x, out, stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets * stride))

x = torch.empty(1 << 20, device="cuda")
gather[(64,)](x, x, 2, BLOCK=1024)
"""
UNSPECIALIZED = {"@triton.jit": "@triton.jit(do_not_specialize=['stride'])", "x, x, 2": "x, x, 1"}
CARRIED = {
    "    tl.store": "    at, total = x + offsets * stride, tl.zeros((BLOCK,), tl.float32)\n"
    "    for _ in range(4):\n"
    "        total += tl.load(at)\n        at += stride\n    tl.store",
    "tl.load(x + offsets * stride)": "total",
}
#: Changes of the source, and the share of the sectors that the load uses.
SHARES = {
    "a stride of 2": ({}, 0.5),
    "a stride of 8": ({"x, x, 2": "x, x, 8"}, 0.125),
    "a stride of 1 that is not specialized": (UNSPECIALIZED, 1),
    "a negative stride": ({"x + offsets * stride": "x + 4094 - offsets * stride"}, 0.5),
    "a remainder": ({"offsets * stride": "offsets % stride"}, 0.25),
    "a pointer that a loop carries": ({**CARRIED, "x, x, 2": "x, x, 4"}, 0.25),
    "a stride that the program decides": ({"offsets * stride": "offsets * tl.program_id(0)"}, 0.125),
    "guessed arguments": ({STRIDED[STRIDED.index("x = torch") :]: "", "stride": "step"}, 0.125),
}


@pytest.mark.parametrize("case", SHARES)
def test_the_strides_of_the_launch_decide_the_sectors(compile_source, query_service, case):
    changes, share = SHARES[case]
    record = compile_source(changed(STRIDED, changes))
    (load,) = (
        each
        for each in json.loads(query_service.answer(layouts.QUERY, (record,), {}))["accesses"]
        if each["operation"] == "tt.load"
    )
    is_bound = case in ("a stride that the program decides", "guessed arguments")
    together = load["together"]
    assert together["used_bytes"] / together["sectors"] / 32 == share
    assert load["sectors_are_most"] == is_bound == (load["launch_values"] is None)
    assert (" = " in load["words"].partition(". ")[2]) == (not is_bound)
    found = json.loads(query_service.answer(findings.QUERY, (record,), {}))["findings"]
    wasted = [each for each in found if each["rule"] == "sectors"]
    # The remainders are two elements, which cannot fill a sector.
    assert len(wasted) == (share < 0.5 and together["sectors"] > 1)
    for each in wasted:
        assert ("at least" in each["text"]) == is_bound
        assert ("with this launch's `stride` = " in each["text"]) == (not is_bound)
        # A guessed block has one element for each lane.
        narrow = "a lane moves 4 bytes at once, of 16 possible" in each["text"]
        assert narrow == (case != "guessed arguments")
        assert "dimension" not in each["cause"] + each["advice"]


def test_copies_of_an_access_have_one_finding(compile_source, query_service):
    """The turns of the loop are copies of one load: one is narrow, the other has elements that are apart."""
    turns = {
        "    tl.store": "    total = 0.0\n    for turn in tl.static_range(2):\n"
        "        total += tl.load(x + 1 + offsets * (1 + 7 * turn))\n    tl.store",
        "tl.load(x + offsets * stride)": "total",
    }
    record = compile_source(changed(STRIDED, turns))
    found = json.loads(query_service.answer(findings.QUERY, (record,), {}))["findings"]
    accesses = [(each["rule"], each["source_line"]) for each in found if each["source_line"] == 10]
    assert accesses == [("sectors", 10)]


FIRST_LOAD = "tl.load(x + offsets, mask=mask)"


@pytest.mark.parametrize(
    ("load", "rules"),
    [
        # One element for all, and elements in descending order.
        ("tl.load(x + offsets // 4096, mask=mask)", []),
        ("tl.load(x + n - 1 - offsets, mask=mask)", ["narrow_accesses"]),
    ],
)
def test_elements_that_are_not_apart_are_not_said_to_be(compile_source, query_service, load, rules):
    record = compile_source(changed(ADD, {FIRST_LOAD: load}))
    found = json.loads(query_service.answer(findings.QUERY, (record,), {}))["findings"]
    assert [each["rule"] for each in found] == rules
    assert not any("apart" in each["cause"] + each["advice"] for each in found)


def test_the_share_of_an_access_has_the_bytes_of_its_copies(compile_source, query_service):
    loop = (
        "    for turn in tl.static_range(32):\n        total += tl.load(x + turn * n + 1 + offsets, mask)\n"
    )
    changes = {f"{FIRST_LOAD} +": "0.0 +", "    tl.store": f"{loop}    tl.store"}
    record = compile_source(changed(ADD, changes))
    found = json.loads(query_service.answer(findings.QUERY, (record,), {}))["findings"]
    (narrow,) = (each for each in found if each["rule"] == "narrow_accesses")
    assert (narrow["severity"], narrow["cost"]) == ("warning", None)


def test_the_pointer_of_a_buffer_is_part_of_an_offset(compile_source, query_service):
    record = compile_source(changed(ADD, {FIRST_LOAD: "tl.load(x + 1 + offsets, mask=mask)"}), "hip:gfx942")
    loads = json.loads(query_service.answer(layouts.QUERY, (record,), {}))["accesses"][:2]
    assert {each["operation"] for each in loads} == {"amdg.buffer_load"}
    assert [(each["shift"], each["multiple"]) for each in loads] == [(1024, 1), (1024, 4)]
