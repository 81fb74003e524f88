"""Test the findings about blocks whose rows are shorter than a sector."""

import json

from explorer.queries import findings

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
