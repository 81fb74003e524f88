"""Test live ranges of tensors on a module small enough to check by hand."""

import pytest

from explorer.analysis.mlir.tensor_registers import Held, live_ranges, pressure

MODULE = """module {
  tt.func public @kernel(%p: !tt.ptr<f32>, %n: i32) {
    %zero = arith.constant dense<0.0> : tensor<64xf32, #b>
    %step = tt.splat %n : i32 -> tensor<64xi32, #b>
    %at = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #b>
    %sum:2 = scf.for %i = %n to %n step %n iter_args(%a = %zero, %o = %at) -> (f32, i32) : i32 {
      %x = arith.sitofp %o : tensor<64xi32, #b> to tensor<64xf32, #b>
      %next = arith.addf %a, %x : tensor<64xf32, #b>
      %further = arith.addi %o, %step : tensor<64xi32, #b>
      scf.yield %next, %further : tensor<64xf32, #b>, tensor<64xi32, #b>
    }
    %wide = tt.expand_dims %sum#0 {axis = 0 : i32} : tensor<64xf32, #b> -> tensor<1x64xf32, #c>
    %last = arith.negf %wide : tensor<1x64xf32, #c>
    tt.store %p, %last : tensor<1x64xf32, #c>
    tt.return
  }
}
"""
HELD = Held("64 f32", 2, 32)
NAMES = {
    ("%zero", 3), ("%step", 4), ("%at", 5), ("%sum#0", 6), ("%sum#1", 6), ("%a", 6), ("%o", 6), ("%x", 7),
    ("%next", 8), ("%further", 9), ("%wide", 12), ("%last", 13),
}  # fmt: skip


@pytest.fixture(scope="module")
def ranges():
    return {each.name: each for each in live_ranges(MODULE, dict.fromkeys(NAMES, HELD))}


@pytest.mark.parametrize(
    ("name", "first", "last", "registers"),
    [
        ("%zero", 3, 6, 0),
        ("%step", 4, 11, 1),
        ("%at", 5, 6, 2),
        ("%a", 6, 8, 2),
        ("%o", 6, 9, 2),
        ("%x", 7, 8, 2),
        ("%next", 8, 10, 2),
        ("%further", 9, 10, 2),
        ("%sum#0", 11, 13, 2),
        ("%last", 13, 14, 2),
    ],
)
def test_ranges_by_hand(ranges, name, first, last, registers):
    each = ranges[name]
    assert (each.first, each.last, each.registers) == (first, last, registers)


def test_a_view_is_another_name(ranges):
    assert "%wide" not in ranges
    assert ranges["%sum#0"].views == ("%wide",)


def test_what_a_loop_needs_again_lives_as_long_as_the_loop(ranges):
    assert ranges["%step"].uses == (9,)
    assert ranges["%step"].last == 11


def test_pressure_is_what_is_alive_behind_each_line(ranges):
    sums = pressure(list(ranges.values()), len(MODULE.splitlines()))
    #            3  4  5  6  7  8  9  10 11 12 13
    assert sums[2:13] == [0, 1, 3, 5, 7, 5, 5, 1, 2, 2, 2]


def test_a_module_without_functions_has_no_ranges():
    assert live_ranges("what is this", {}) == []
    assert live_ranges("module {\n  tt.func @cut(%x: i32) {\n    %y = arith.addi %x,", {}) == []
