"""Test facts that are read from a module."""

from explorer.analysis.mlir.operations import read_functions
from explorer.analysis.mlir.texts import atomic_operations, buffer_sizes

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


def test_buffers_of_loops_have_their_sizes_and_bytes_and_tiles_with_a_value_are_left_out():
    text = """
    %a = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
    %b = ttg.local_alloc %c : (tensor<64x64xf32, #blocked>) -> !ttg.memdesc<64x64xf32, #shared, #smem>
    """
    assert buffer_sizes(text) == [({3, 128, 64}, 3 * 128 * 64 * 2)]
