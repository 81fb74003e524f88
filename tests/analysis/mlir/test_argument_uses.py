"""Test which arguments of a kernel an operation depends on."""

import pytest

from explorer.analysis.mlir.argument_uses import arguments_behind
from explorer.analysis.mlir.operations import read_functions

TEXT = """module {
  tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %m: i32, %n: i32, %k: i32, %o: i32) {
    %c0 = arith.constant 0 : i32
    %start = tt.addptr %x, %m : !tt.ptr<f32>, i32
    %at = tt.load %start : !tt.ptr<f32>
    %both:2 = scf.for %i = %c0 to %n step %k iter_args(%p = %y, %q = %at) -> (!tt.ptr<f32>, f32)  : i32 {
      %value = tt.load %p : !tt.ptr<f32>
      %offset = tt.addptr %y, %i : !tt.ptr<f32>, i32
      %again = tt.load %offset : !tt.ptr<f32>
      %next = tt.addptr %p, %o : !tt.ptr<f32>, i32
      scf.yield %next, %value : !tt.ptr<f32>, f32
    }
    tt.store %both#0, %both#1 : !tt.ptr<f32>
    %chosen = scf.if %c -> (i32) {
      scf.yield %m : i32
    } else {
      scf.yield %n : i32
    }
    %last = tt.addptr %x, %chosen : !tt.ptr<f32>, i32
    tt.store %last, %at : !tt.ptr<f32>
    %old = tt.atomic_rmw add, acq_rel, gpu, %start, %k, %c : (!tt.ptr<i32>, i32, i1) -> i32
    %there = tt.addptr %y, %old : !tt.ptr<f32>, i32
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("operation", "names"),
    [
        ("%at =", "xm"),
        ("%value =", "yo"),
        ("%again =", "yk"),
        ("tt.store %both", "yo"),
        ("tt.store %last", "xmn"),
        ("%there =", "y"),
        ("module", ""),
    ],
)
def test_the_arguments_of_an_operation(operation, names):
    line = next(number for number, text in enumerate(TEXT.split("\n"), 1) if operation in text)
    assert arguments_behind(read_functions(TEXT), {line: None}) == set(names)


TILE = """module {
  tt.func public @kernel(%x: !tt.ptr<f32>, %m: i32, %n: i32, %k: i32, %o: i32, %v: f32) {
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 1, parent = #b}>>
    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32, #s> -> tensor<8x1xi32, #b>
    %strides = tt.splat %o : i32 -> tensor<8x1xi32, #b>
    %starts = arith.muli %rows, %strides : tensor<8x1xi32, #b>
    %all = tt.broadcast %starts : tensor<8x1xi32, #b> -> tensor<8x8xi32, #b>
    %base = tt.splat %x : !tt.ptr<f32> -> tensor<8x8x!tt.ptr<f32>, #b>
    %at = tt.addptr %base, %all : tensor<8x8x!tt.ptr<f32>, #b>, tensor<8x8xi32, #b>
    %end = tt.splat %m : i32 -> tensor<8x1xi32, #b>
    %below = arith.cmpi slt, %rows, %end : tensor<8x1xi32, #b>
    %row_mask = tt.broadcast %below : tensor<8x1xi1, #b> -> tensor<8x8xi1, #b>
    %last = tt.splat %n : i32 -> tensor<1x8xi32, #b>
    %left = arith.cmpi slt, %columns, %last : tensor<1x8xi32, #b>
    %column_mask = tt.broadcast %left : tensor<1x8xi1, #b> -> tensor<8x8xi1, #b>
    %is_on = arith.cmpi slt, %pid, %k : i32
    %on_mask = tt.splat %is_on : i1 -> tensor<8x8xi1, #b>
    %two = arith.andi %row_mask, %column_mask : tensor<8x8xi1, #b>
    %mask = arith.andi %two, %on_mask : tensor<8x8xi1, #b>
    %others = tt.splat %v : f32 -> tensor<8x8xf32, #b>
    %loaded = tt.load %at, %mask, %others : tensor<8x8x!tt.ptr<f32>, #b>
    tt.store %at, %others, %mask : tensor<8x8x!tt.ptr<f32>, #b>
    tt.return
  }
}
"""


@pytest.mark.parametrize(("dimension", "names"), [(1, "xon"), (0, "xom"), (None, "xomn")])
@pytest.mark.parametrize("operation", ["%loaded =", "tt.store"])
def test_a_part_of_a_mask_that_is_equal_does_not_limit_an_access(operation, dimension, names):
    line = next(number for number, text in enumerate(TILE.split("\n"), 1) if operation in text)
    assert arguments_behind(read_functions(TILE), {line: dimension}) == set(names)
