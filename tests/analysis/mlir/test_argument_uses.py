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
    assert arguments_behind(read_functions(TEXT), [line]) == set(names)
