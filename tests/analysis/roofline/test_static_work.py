"""Test the static work of launches against numbers calculated by hand."""

from collections import Counter

import pytest

from explorer.analysis.roofline.static_work import static_work
from explorer.model.hardware import find_target

HOPPER = find_target("cuda:90")

MATMUL = """\
module {
  tt.func public @matmul(%a: !tt.ptr<f16>, %K: i32) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %c63_i32 = arith.constant 63 : i32
    %c64_i32 = arith.constant 64 : i32
    %zero = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %0 = arith.addi %K, %c63_i32 : i32
    %n = arith.divsi %0, %c64_i32 : i32
    %1 = scf.for %k = %c0_i32 to %n step %c1_i32 iter_args(%sum = %zero) -> (tensor<16x32xf32>)  : i32 {
      %x = tt.load %p : tensor<16x64x!tt.ptr<f16>>
      %y = tt.load %q : tensor<64x32x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %sum, inputPrecision = tf32 : A * B -> tensor<16x32xf32>
      scf.yield %d : tensor<16x32xf32>
    }
    %2 = arith.mulf %1, %1 : tensor<16x32xf32>
    tt.store %r, %2, %mask : tensor<16x32x!tt.ptr<f32>>
    tt.return
  }
}
""".replace("A * B", "tensor<16x64xf16> * tensor<64x32xf16>")


def test_operations_and_bytes_are_those_of_all_trips_of_all_programs():
    """K = 200 is 4 steps of 64; 6 programs."""
    found = static_work(MATMUL, "matmul", (3, 2), {"K": 200}, HOPPER)
    assert found.reason == ""
    assert found.operations == {"tensor fp16": 6 * 4 * 2 * 16 * 32 * 64, "fp32": 6 * 16 * 32}
    assert found.requested_bytes == 6 * (4 * (16 * 64 + 64 * 32) * 2 + 16 * 32 * 4)
    assert found.is_masked


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_constant_may_be_a_truth_value(value):
    text = MATMUL.replace("    tt.return\n", f"    %t = arith.constant {value}\n    tt.return\n")
    assert static_work(text, "matmul", (3, 2), {"K": 200}, HOPPER).reason == ""


def test_a_loop_without_a_known_end_has_no_answer():
    assert "line 10 of TTIR" in static_work(MATMUL, "matmul", (1,), {}, HOPPER).reason


@pytest.mark.parametrize(
    ("precision", "kind"),
    [
        (", inputPrecision = tf32", "tensor tf32"),
        (", inputPrecision = tf32x3", "tensor tf32"),
        (", inputPrecision = bf16x3", "tensor bf16"),
        ("", "fp32"),
    ],
)
def test_fp32_matrices_are_multiplied_as_the_program_says(precision, kind):
    """Triton does not print the precision "ieee"."""
    text = MATMUL.replace("xf16>", "xf32>").replace(", inputPrecision = tf32", precision)
    found = static_work(text, "matmul", (1,), {"K": 64}, HOPPER)
    expected = Counter({"fp32": 16 * 32})
    expected[kind] += 2 * 16 * 32 * 64
    assert found.operations == expected


def test_what_stands_in_a_condition_has_no_answer():
    text = MATMUL.replace(
        "    tt.store %r, %2, %mask : tensor<16x32x!tt.ptr<f32>>",
        "    scf.if %yes {\n      tt.store %r, %2, %mask : tensor<16x32x!tt.ptr<f32>>\n    }",
    )
    assert "scf.if" in static_work(text, "matmul", (1,), {"K": 64}, HOPPER).reason


def test_without_a_grid_or_the_kernel_there_is_no_answer():
    assert "grid" in static_work(MATMUL, "matmul", (), {"K": 64}, HOPPER).reason
    assert "no TTIR" in static_work(MATMUL, "other", (1,), {"K": 64}, HOPPER).reason
    assert "iterations, the limit" in static_work(MATMUL, "matmul", (1,), {"K": 2**62}, HOPPER).reason


def test_programs_that_differ_are_added_up():
    """A causal loop: program x does x + 1 steps; 4 × 3 programs do 3 · (1 + 2 + 3 + 4)."""
    text = MATMUL.replace(
        "    %n = arith.divsi %0, %c64_i32 : i32",
        "    %x = tt.get_program_id x : i32\n    %n = arith.addi %x, %c1_i32 : i32",
    )
    found = static_work(text, "matmul", (4, 3), {}, HOPPER)
    assert found.operations["tensor fp16"] == 3 * 10 * 2 * 16 * 32 * 64
    assert "line 11 of TTIR" in static_work(text, "matmul", (2**20, 1), {}, HOPPER).reason


def test_a_persistent_kernel_does_all_tiles_once():
    """10 tiles on 4 programs: 3, 3, 2 and 2."""
    text = MATMUL.replace("%c0_i32 to %n step %c1_i32", "%x to %K step %y").replace(
        "    %n = arith.divsi %0, %c64_i32 : i32",
        "    %x = tt.get_program_id x : i32\n    %y = tt.get_num_programs x : i32",
    )
    found = static_work(text, "matmul", (4,), {"K": 10}, HOPPER)
    assert found.operations["tensor fp16"] == 10 * 2 * 16 * 32 * 64


def test_special_functions_are_told_apart():
    found = static_work(
        MATMUL.replace("arith.mulf %1, %1", "math.exp2 %1"), "matmul", (1,), {"K": 64}, HOPPER
    )
    assert found.operations == {"tensor fp16": 2 * 16 * 32 * 64, "special fp32": 16 * 32}


REDUCED = """\
module {
  tt.func public @norm(%x: tensor<8x64xf32>) attributes {noinline = false} {
    %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %5 = COMBINE %a, %b : f32
      tt.reduce.return %5 : f32
    }) : (tensor<8x64xf32>) -> tensor<8xf32>
    %1 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %5 = arith.mulf %a, %b : f32
      tt.scan.return %5 : f32
    }) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %2 = arith.maxnumf %1, %x : tensor<8x64xf32>
    %3 = math.absf %2 : tensor<8x64xf32>
    %4 = arith.negf %3 : tensor<8x64xf32>
    tt.return
  }
}
"""


@pytest.mark.parametrize(("combine", "adds"), [("arith.addf", 8 * 63), ("arith.maxnumf", 0)])
def test_combining_n_elements_takes_one_operation_less(combine, adds):
    """Minimum and maximum, absolute values and changes of sign are no arithmetic to a profiler."""
    found = static_work(REDUCED.replace("COMBINE", combine), "norm", (2,), {}, HOPPER)
    assert found.operations == {"fp32": 2 * (adds + 7 * 64)}


def test_functions_of_a_library_are_special():
    call = (
        'tt.extern_elementwise %1 {libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"} : '
        "(tensor<16x32xf32>) -> tensor<16x32xf32>"
    )
    text = MATMUL.replace("arith.mulf %1, %1 : tensor<16x32xf32>", call)
    found = static_work(text, "matmul", (1,), {"K": 64}, HOPPER)
    assert found.operations == {"tensor fp16": 2 * 16 * 32 * 64, "special fp32": 16 * 32}


IN_PLACE = """\
module {
  tt.func public @rope(%q: !tt.ptr<f16>, %cos: !tt.ptr<f32>, %o: !tt.ptr<f16>, %n: i32) {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %base = tt.addptr %q, %n : !tt.ptr<f16>, i32
    %0 = tt.splat %base : !tt.ptr<f16> -> tensor<16x!tt.ptr<f16>>
    %p = tt.addptr %0, %r : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
    %1 = tt.splat %cos : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %last = scf.for %i = %c0_i32 to %n step %c1_i32 iter_args(%at = %p) -> (tensor<16x!tt.ptr<f16>>)  : i32 {
      %x = tt.load %at : tensor<16x!tt.ptr<f16>>
      %c = tt.load %1 : tensor<16x!tt.ptr<f32>>
      tt.store %at, %x : tensor<16x!tt.ptr<f16>>
      %next = tt.addptr %at, %r : tensor<16x!tt.ptr<f16>>, tensor<16xi32>
      scf.yield %next : tensor<16x!tt.ptr<f16>>
    }
    tt.return
  }
}
"""


def test_a_tensor_that_is_changed_in_place_is_read_and_written():
    found = static_work(IN_PLACE, "rope", (4,), {"n": 2}, HOPPER)
    assert found.loaded == {"q", "cos"}
    assert found.stored == {"q"}
    # It is known although the trip count is not.
    unknown = static_work(IN_PLACE, "rope", (4,), {}, HOPPER)
    assert unknown.reason
    assert unknown.stored == {"q"}


def test_a_pointer_from_elsewhere_leaves_it_unknown():
    text = IN_PLACE.replace("%1 = tt.splat %cos :", "%1 = tt.int_to_ptr %r :")
    assert static_work(text, "rope", (4,), {"n": 2}, HOPPER).loaded is None


def test_the_work_of_each_program_is_in_the_order_of_the_launch():
    """Program x does x + 1 steps, for each of 3 heads. Equal programs need no list."""
    text = MATMUL.replace(
        "    %n = arith.divsi %0, %c64_i32 : i32",
        "    %x = tt.get_program_id x : i32\n    %n = arith.addi %x, %c1_i32 : i32",
    )
    step = 2.0 * 16 * 32 * 64
    assert static_work(text, "matmul", (4, 3), {}, HOPPER).programs == tuple(
        step * x for _ in range(3) for x in (1, 2, 3, 4)
    )
    assert static_work(
        text.replace("program_id x", "program_id y"), "matmul", (2, 3), {}, HOPPER
    ).programs == tuple(step * y for y in (1, 1, 2, 2, 3, 3))
    assert static_work(MATMUL, "matmul", (4, 3), {"K": 200}, HOPPER).programs == ()
