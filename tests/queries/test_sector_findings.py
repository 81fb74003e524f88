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
