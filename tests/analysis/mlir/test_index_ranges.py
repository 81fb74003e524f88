"""Test the ranges of integers, and the offsets that wrap at the sizes of a launch."""

import pytest

from explorer.analysis.mlir.index_ranges import Overflow, overflows
from explorer.analysis.mlir.operations import read_functions

MODULE = """module {
  tt.func public @rows(%x: !tt.ptr<f32>, %columns: i32) {
    %c1024_i32 = arith.constant 1024 : i32
    %c0_i32 = arith.constant 0 : i32
    %row = tt.get_program_id x : i32
    %start = OPERATION
    %range = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %splat = tt.splat %start : i32 -> tensor<1024xi32>
    %offsets = arith.addi %splat, %range : tensor<1024xi32>
    %pointers = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %places = tt.addptr %pointers, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    tt.return
  }
}
"""


def found(operation, columns, grid):
    return overflows(read_functions(MODULE.replace("OPERATION", operation)), {"columns": columns}, grid)


@pytest.mark.parametrize("columns", [1 << 15, 1 << 20])
def test_the_largest_value_of_all_programs_decides(columns):
    product = "arith.muli %row, %columns : i32"
    fitting = (2**31 - 1024) // columns
    assert found(product, columns, (fitting,)) == []
    (overflow,) = found(product, columns, (2 * fitting + 2,))
    assert overflow == Overflow(6, "arith.muli", (2 * fitting + 1) * columns, 32)


def test_the_operation_that_leaves_the_type_is_named():
    (overflow,) = found("arith.muli %row, %columns : i32", 2**31 - 1000, (2,))
    assert (overflow.line, overflow.operation) == (9, "arith.addi")
    assert overflow.value == 2**31 - 1000 + 1023


@pytest.mark.parametrize(
    "operation",
    [
        "arith.remsi %row, %columns : i32",
        "arith.divsi %row, %columns : i32",
        "arith.minsi %row, %c1024_i32 : i32",
        "arith.subi %c0_i32, %row : i32",
        "tt.load %x : !tt.ptr<i32>",
    ],
)
def test_small_and_unknown_values_are_no_overflow(operation):
    assert found(operation, 1 << 20, (1 << 20,)) == []


def test_a_sum_that_no_pointer_needs_is_none():
    text = MODULE.replace("OPERATION", "arith.muli %row, %columns : i32").replace(
        "%splat, %range", "%range, %range"
    )
    assert overflows(read_functions(text), {"columns": 1 << 20}, (1 << 20,)) == []


def test_a_product_of_64_bits_is_none():
    wide = MODULE.replace("i32", "i64").replace(
        "end = 1024 : i64, start = 0 : i64", "end = 1024 : i32, start = 0 : i32"
    )
    text = wide.replace("OPERATION", "arith.muli %row, %columns : i64")
    assert overflows(read_functions(text), {"columns": 1 << 20}, (1 << 20,)) == []
    assert overflows(read_functions(text), {"columns": 1 << 50}, (1 << 20,)) != []


def test_the_variable_of_a_loop_reaches_its_end():
    text = """module {
  tt.func public @loop(%x: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1  : i32 {
      %at = arith.muli %i, %n : i32
      %place = tt.addptr %x, %at : !tt.ptr<f32>, i32
    }
    tt.return
  }
}
"""
    assert overflows(read_functions(text), {"n": 46_341}, (1,)) == []
    (overflow,) = overflows(read_functions(text), {"n": 46_342}, (1,))
    assert (overflow.line, overflow.value) == (6, 46_341 * 46_342)


def test_the_sizes_of_the_launch_are_of_the_kernel_and_not_of_functions_that_it_calls():
    text = MODULE.replace("OPERATION", "arith.muli %row, %columns : i32")
    launch = {"columns": 1 << 20}, (1 << 20,)
    assert overflows(read_functions(text), *launch) != []
    assert overflows(read_functions(text.replace("tt.func public", "tt.func private")), *launch) == []
