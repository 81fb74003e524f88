"""Test which masks are true for all elements at the sizes of a launch."""

import pytest

from explorer.analysis.mlir.full_masks import full_masks
from explorer.analysis.mlir.operations import read_functions

MODULE = """module {
  tt.func public @rows(%x: tensor<64x!tt.ptr<f32>>, %n: i32) {
    %c0_i32 = arith.constant 0 : i32
    %c64_i32 = arith.constant 64 : i32
    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %program = tt.get_program_id x : i32
    %bound = tt.splat %n : i32 -> tensor<64xi32>
    %short = arith.cmpi slt, %range, %bound : tensor<64xi32>
    scf.for %start = %c0_i32 to %n step %c64_i32  : i32 {
      %splat = tt.splat %start : i32 -> tensor<64xi32>
      %offsets = arith.addi %splat, %range : tensor<64xi32>
      %inside = MASK
      %values = tt.load %x, %inside : tensor<64x!tt.ptr<f32>>
      %all = tt.load %x : tensor<64x!tt.ptr<f32>>
      tt.store %x, %values, %short : tensor<64x!tt.ptr<f32>>
    }
    tt.return
  }
}
"""
BELOW = "arith.cmpi slt, %offsets, %bound : tensor<64xi32>"


def found(mask, n):
    return full_masks(read_functions(MODULE.replace("MASK", mask)), {"n": n}, (4,))


@pytest.mark.parametrize(
    ("mask", "n", "is_full"),
    [
        (BELOW, 256, True),
        (BELOW, 255, False),
        ("arith.cmpi sgt, %bound, %offsets : tensor<64xi32>", 256, True),
        ("arith.cmpi sge, %bound, %offsets : tensor<64xi32>", 255, True),
        ("arith.cmpi sle, %offsets, %bound : tensor<64xi32>", 254, False),
        ("arith.cmpi slt, %bound, %offsets : tensor<64xi32>", 256, False),
        ("arith.cmpi ult, %offsets, %bound : tensor<64xi32>", 256, False),
        ("arith.andi %short, %short : tensor<64xi1>", 256, True),
        ("arith.andi %short, %values : tensor<64xi1>", 256, False),
        ("arith.ori %short, %values : tensor<64xi1>", 256, False),
    ],
)
def test_a_mask_is_full_if_all_comparisons_hold(mask, n, is_full):
    full, others = found(mask, n)
    assert (13 in full, 13 in others) == (is_full, not is_full)
    assert 14 not in full | others


def test_the_mask_of_a_store_is_its_third_operand():
    assert 15 in found(BELOW, 64)[0]
    assert 15 in found(BELOW, 63)[1]
