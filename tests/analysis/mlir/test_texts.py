"""Test facts that are read from a module."""

from explorer.analysis.mlir.operations import read_functions
from explorer.analysis.mlir.texts import atomic_operations

TEXT = """module {
  tt.func public @kernel(%x: !tt.ptr<f32>, %v: tensor<16xf32>, %p: tensor<16x!tt.ptr<f32>>, %m: i1) {
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %v : (tensor<16x!tt.ptr>) -> tensor<16xf32>
    %got = tt.atomic_cas acq_rel, sys, %x, %m, %m : (!tt.ptr<i32>, i32, i32) -> i32 loc("a -> b"(#loc1))
    tt.print "tt.atomic_rmw fadd -> f32" : %x : i32
    tt.return
  }
}
"""


def test_the_atomic_operations_have_names_types_and_scopes():
    assert list(atomic_operations(read_functions(TEXT))) == [
        (3, "fadd", "f32", "gpu"),
        (4, "cas", "i32", "sys"),
    ]
