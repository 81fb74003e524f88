"""Test which loads and stores move the same value."""

from explorer.analysis.mlir.moved_values import moved_values
from explorer.analysis.mlir.operations import read_functions

TEXT = """module {
  tt.func public @kernel(%x: tensor<64x!tt.ptr<f32>>, %out: tensor<64x!tt.ptr<f32>>) {
    %a = tt.load %x : tensor<64x!tt.ptr<f32>>
    %b = arith.addf %a, %a : tensor<64xf32>
    tt.store %out, %b : tensor<64x!tt.ptr<f32>>
    %c = "tt.reduce"(%a) <{axis = 0 : i32}> : (tensor<64xf32>) -> f32
    %d = tt.splat %c : f32 -> tensor<64xf32>
    tt.store %x, %d : tensor<64x!tt.ptr<f32>>
    tt.return
  }
}
"""


def test_a_value_is_moved_through_arithmetic_and_not_through_a_reduction():
    assert list(moved_values(read_functions(TEXT))) == [(3, 5)]


def test_an_access_at_loaded_addresses_moves_no_value():
    gather = TEXT.replace(
        "%a = tt.load %x :",
        "%i = tt.load %x : tensor<64x!tt.ptr<i32>>\n    %p = tt.addptr %x, %i : tensor<64x!tt.ptr<f32>>\n"
        "    %a = tt.load %p :",
    )
    assert list(moved_values(read_functions(gather))) == []
