"""Test that forged texts and allocations never make the memory map fail."""

import pytest

from explorer.analysis.memory.memory_map import map_functions
from explorer.analysis.mlir.operations import read_functions
from explorer.model import Allocation, Buffer

FUNCTION = "tt.func @f() {\n  %a = ttg.local_alloc {allocation.offset = 0 : i32}\n  tt.return\n}\n"


def allocation(start, end):
    return Allocation(0, 0, (Buffer(0, "explicit", 16, 0, start, end, "ttg.local_alloc"),), 16)


@pytest.mark.parametrize("text", ["", "no module", FUNCTION])
@pytest.mark.parametrize(("start", "end"), [(10**7, 1), (10**7, 10**7), (5, None), (2, 0)])
def test_buffers_that_are_alive_nowhere(text, start, end):
    (function,) = map_functions([allocation(start, end)], text, text, has_barriers=True)
    assert [buffer.start for buffer in function.buffers] == [start]
    assert len(function.source_lines) <= 3


@pytest.mark.parametrize("count", [10**9, int("9" * 4000)])
def test_more_results_than_there_can_be_are_one(count):
    (function,) = read_functions(FUNCTION.replace("%a =", f"%a:{count} ="))
    assert function.operations[0].results == ("%a",)
