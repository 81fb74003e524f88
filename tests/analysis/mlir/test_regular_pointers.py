"""Test which loads of a loop are boxes."""

import itertools

import pytest

from explorer.analysis.mlir.operations import read_functions
from explorer.analysis.mlir.regular_pointers import RegularPointers

TEXT = """module {
  tt.func public @kernel(%x: !tt.ptr<f16>, %n: i32, %c: tensor<64x64xf32>) {
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %bounds = tt.splat %n : i32 -> tensor<64x64xi32>
    %zero = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
    %r0 = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
PRODUCTS
    %rows = tt.broadcast %last : tensor<64x1xi32> -> tensor<64x64xi32>
    %row = tt.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %columns = tt.broadcast %row : tensor<1x64xi32> -> tensor<64x64xi32>
    scf.for %i = %n to %n step %n  : i32 {
      %at = arith.addi %rows, %columns : tensor<64x64xi32>
      %pointers = tt.splat %x : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>>
      %places = tt.addptr %pointers, %at : tensor<64x64x!tt.ptr<f16>>, tensor<64x64xi32>
      %mask = arith.cmpi PREDICATE : tensor<64x64xi32>
      %a = tt.load %places, %mask, %zero : tensor<64x64x!tt.ptr<f16>>
      %d = tt.dot %a, %a, %c : tensor<64x64xf16> * tensor<64x64xf16> -> tensor<64x64xf32>
    }
    tt.return
  }
}
"""


def boxes(factors=1, predicate="slt, %columns, %bounds"):
    names = ["%r0", *(f"%p{index}" for index in range(factors - 1)), "%last"]
    products = "\n".join(
        f"    {result} = arith.muli {value}, %n : tensor<64x1xi32>"
        for value, result in itertools.pairwise(names)
    )
    text = TEXT.replace("PRODUCTS", products).replace("PREDICATE", predicate)
    return [each.results for function in read_functions(text) for each in RegularPointers(function).boxes()]


@pytest.mark.parametrize(("factors", "count"), [(1, 1), (8, 1), (9, 0)])
def test_a_stride_has_few_factors(factors, count):
    assert len(boxes(factors)) == count


@pytest.mark.parametrize(
    ("predicate", "count"),
    [
        ("slt, %columns, %bounds", 1),
        ("ugt, %bounds, %columns", 1),
        ("sgt, %columns, %bounds", 0),
        ("ult, %bounds, %columns", 0),
        ("sle, %columns, %bounds", 0),
        ("sge, %bounds, %columns", 0),
        ("slt, %rows, %bounds", 0),
    ],
)
def test_a_mask_leaves_out_indices_from_a_bound_on(predicate, count):
    assert len(boxes(predicate=predicate)) == count
