"""Test what makes the operands of a division 64 bits wide."""

import pytest

from explorer.analysis.mlir.divisions import wide_divisions
from explorer.analysis.mlir.operations import read_functions

TEXT = """module {
  tt.func public @kernel(%x: !tt.ptr<i64>, %stride: i64, %c: i1) {
    %two = arith.constant 2 : i64
    %row = tt.get_program_id x : i32
    %wide = arith.extsi %row : i32 to i64
    %offset = arith.muli %stride, %two : i64
    %place = tt.addptr %x, %offset : !tt.ptr<i64>, i64
    %loaded = tt.load %place : !tt.ptr<i64>
    %old = tt.atomic_rmw add, acq_rel, gpu, %place, %two, %c : (!tt.ptr<i64>, i64, i1) -> i64
    %quotient = arith.divsi DIVIDEND, %loaded : i64
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("dividend", "arguments", "extensions"),
    [
        ("%offset", ("stride",), ()),
        ("%wide", (), (5,)),
        ("%loaded", (), ()),
        ("%old", (), ()),
    ],
)
def test_a_loaded_operand_is_not_as_wide_as_its_address(dividend, arguments, extensions):
    (division,) = wide_divisions(read_functions(TEXT.replace("DIVIDEND", dividend)), None)
    assert (division.arguments, division.extensions) == (arguments, extensions)
