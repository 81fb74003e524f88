"""Test the facts about loops that need no compiler: chains of loads, and texts that are cut off."""

import pytest

from explorer.analysis.pipelining import read_loops

LOOP = """module {
  tt.func public @chase(%next: !tt.ptr<i32>, %turns: i32, %first: i32) {
    %last = scf.for %turn = %first to %turns step %first iter_args(%at = %first) -> (i32)  : i32 {
      %address = tt.addptr %next, %OPERAND : !tt.ptr<i32>, i32
      %value = tt.load %address : !tt.ptr<i32>
      scf.yield %value : i32
    }
    tt.return
  }
}
"""


@pytest.mark.parametrize(("operand", "chained"), [("at", 1), ("turn", 0)])
def test_a_load_is_chained_to_the_load_of_the_turn_before(operand, chained):
    (loop,) = read_loops(LOOP.replace("OPERAND", operand))
    assert (loop.loads, loop.chained_loads) == (1, chained)


@pytest.mark.parametrize("lines", range(1, 10))
def test_a_text_that_is_cut_off_is_read(lines):
    text = "\n".join(LOOP.split("\n")[:lines])
    assert all(loop.chained_loads == 0 for loop in read_loops(text.replace("OPERAND", "turn")))
    assert all(loop.loads == 0 for loop in read_loops(text.replace(" {\n      %", "\n      %")))
