"""Test the comparison of results with a reference."""

import math
from typing import Any

import pytest
import torch

from explorer.model import Original
from explorer.runner.difference import compare
from explorer.runner.launch.saved_tensors import SavedTensors
from explorer.runner.measures.check import written_tensors

SCALE = """
@triton.jit
def scale(X, out_ptr, factor, size, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + offsets, mask=offsets < size)
    tl.store(out_ptr + offsets, x * factor, mask=offsets < size)


x = torch.randn(10, 10, device="cuda", dtype=torch.float16)
out = torch.empty_like(x)
scale[(2,)](x, out, 0.5, 100, BLOCK=64)
"""
#: The blocks of one size, and a factor. Each block has a sum.
PARTIAL_SUMS = """
@triton.jit
def scale(X, out_ptr, sums, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + offsets)
    tl.store(out_ptr + offsets, x * factor)
    tl.store(sums + tl.program_id(0), tl.sum(x))


x = torch.randn(128, device="cuda")
scale[(128 // {0},)](x, torch.empty_like(x), torch.empty(128 // {0}, device="cuda"), {1}, BLOCK={0})
"""


def test_equal_tensors_match():
    tensor = torch.randn(5, 7)
    output = compare("out", tensor, tensor.double())
    assert (output.name, output.type, output.shape) == ("out", "float32", (5, 7))
    assert output.matches and output.relative_error == 0 and output.not_finite == 0
    assert output.compared == 35


def test_errors_are_norms_and_the_worst_element_is_named():
    expected = torch.full((4, 5), 2.0, dtype=torch.float64)
    actual = expected.float()
    actual[3, 1] = 1.0
    output = compare("out", actual, expected)
    assert output.relative_error == pytest.approx(1 / math.sqrt(20 * 4))
    assert output.worst_error == pytest.approx(0.5)
    assert (output.worst_index, output.worst_value, output.worst_reference) == ((3, 1), 1.0, 2.0)
    assert not output.matches


def test_small_elements_are_measured_by_the_size_of_the_others():
    expected = torch.ones(1000, dtype=torch.float64)
    expected[7] = 1e-9
    actual = expected.float()
    actual[7] = 2e-9
    output = compare("out", actual, expected)
    assert output.matches and output.worst_error == pytest.approx(1e-9, rel=1e-2)


@pytest.mark.parametrize(
    ("dtype", "passes", "fails"),
    [
        (torch.float32, 1e-4, 1e-2),
        (torch.float16, 1e-3, 2e-2),
        (torch.bfloat16, 1e-2, 1e-1),
        (torch.float8_e4m3fn, 3e-2, 0.5),
        (torch.float64, 1e-12, 1e-8),
    ],
)
def test_tolerances_follow_the_type(dtype, passes, fails):
    expected = torch.randn(10_000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    noise = torch.randn(10_000, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    assert compare("out", (expected + passes * noise).to(dtype), expected).matches
    assert not compare("out", (expected + fails * noise).to(dtype), expected).matches


def test_whole_numbers_are_exact():
    expected = torch.arange(100)
    assert compare("out", expected.to(torch.int32), expected).matches
    assert not compare("out", (expected + (expected == 99)).to(torch.int32), expected).matches


def test_numbers_that_are_none():
    expected = torch.tensor([1.0, math.inf, math.nan, -math.inf, 5.0], dtype=torch.float64)
    assert compare("out", expected.float(), expected).matches
    actual = torch.tensor([1.0, math.inf, math.nan, math.inf, math.nan])
    output = compare("out", actual, expected)
    assert (output.not_finite, output.matches, output.worst_error) == (2, False, None)
    assert (output.worst_index, output.worst_value, output.worst_reference) == ((3,), None, None)


def test_a_reference_of_zeros_is_compared_by_difference():
    zeros = torch.zeros(100, dtype=torch.float64)
    assert compare("out", zeros.float(), zeros).matches
    assert not compare("out", zeros.float() + 0.1, zeros).matches


def test_tensors_without_elements_match():
    output = compare("out", torch.empty(0, 3), torch.empty(0, 3, dtype=torch.float64))
    assert output.matches and output.compared == 0 and output.worst_value is None


def test_only_what_was_written_is_compared():
    expected = torch.arange(6, dtype=torch.float64).reshape(2, 3)
    actual = torch.tensor([[0.0, 1.0, math.nan], [3.0, 4.0, 77.0]])
    written = torch.tensor([[True, True, False], [True, True, False]])
    output = compare("out", actual, expected, written)
    assert output.matches and output.compared == 4


def test_the_scripts_own_call_is_made_again(interpret):
    source = "def reference(x, half):\n    return x / half, x\n" + SCALE + "reference(x, half=2)\nx.zero_()\n"
    told = interpret(source)
    assert told.check["reference"] == "the script's call of reference(…)"
    (output,) = told.check["outputs"]
    assert output["name"] == "out_ptr" and output["matches"] and output["worst_reference"] != 0


def test_arguments_are_bound_by_name(interpret):
    """Arguments are matched ignoring case and suffixes, then by global name, then by default."""
    source = """
weight = 2.0


def reference(x, factor, weight, bias=0.0, *, size):
    assert x.dtype == torch.float64 and size == 100
    return x * factor * weight / 2 + bias
"""
    told = interpret(source + SCALE)
    assert told.check["reference"] == "reference(x, factor, weight, size)"
    assert told.check["outputs"][0]["matches"]
    told = interpret(source.replace("weight", "heft", 1) + SCALE)
    assert "`weight` of reference(…) has no value" in told.check["reason"]


def test_a_reference_that_takes_no_doubles_gets_singles(interpret):
    source = "def reference(x, factor):\n    assert x.dtype == torch.float32\n    return x * factor\n"
    assert interpret(source + SCALE).check["outputs"][0]["matches"]


def test_a_reference_that_fails_says_so(interpret):
    told = interpret("def reference(x):\n    return x.no_such_thing()\n" + SCALE)
    assert "AttributeError" in told.check["reason"] and "(line 5)" in told.check["reason"]


@pytest.mark.parametrize(
    "code", ["x * factor", "X / 2", "half = x / 2\nreturn half", "(out * 0, x * factor)"]
)
def test_torch_code_of_the_form(interpret, code):
    told = interpret(SCALE, reference=code)
    assert told.check["reference"] == "the torch code of the form"
    assert told.check["outputs"][0]["matches"] == ("out" not in code)


def test_torch_code_that_is_none(interpret):
    assert (
        interpret(SCALE, reference="x *").check["reason"]
        == "Syntax error in the reference: invalid syntax (line 1)."
    )
    assert "returns no tensor" in interpret(SCALE, reference="3").check["reason"]
    assert "(7,)" in interpret(SCALE, reference="torch.ones(7)").check["reason"]


def test_a_wrong_result_is_an_error_on_the_line_of_the_launch(interpret):
    told = interpret(SCALE, reference="x * 3")
    (error,) = told.errors
    assert error["line"] == 14
    assert error["message"].startswith(
        "out_ptr does not match the reference: relative error 0.83 (at most 0.005)"
    )


def test_nan_is_told(interpret):
    told = interpret(SCALE.replace("x * factor", "x / (factor - 0.5) * 0.0"), reference="x * factor")
    assert told.errors[0]["message"].startswith(
        "out_ptr: 100 elements are NaN or infinite where the reference"
    )
    assert told.check["outputs"][0]["not_finite"] == 100


def test_what_a_kernel_changes_in_place_is_compared_with_what_was_there(interpret):
    source = SCALE.replace("scale[(2,)](x, out, 0.5, 100, BLOCK=64)", "scale[(2,)](x, x, 0.5, 100, BLOCK=64)")
    told = interpret(source, reference="x * 0.5")
    assert told.check["outputs"][0]["matches"]


def test_without_a_reference_nothing_is_compared(interpret):
    assert "no function `reference`" in interpret(SCALE).check["reason"]


class LaunchOfUnknownWrites:
    """A `CapturedLaunch` as on a GPU, where the written tensors are unknown."""

    def __init__(self, run, **tensors):
        self._run = run
        self.tensors = tensors
        self.before = SavedTensors(tensors)

    def run(self):
        self._run(**self.tensors)

    def restore(self):
        self.before.restore()

    def results(self):
        self.restore()
        self.run()
        return self.tensors

    def written(self, name):
        return None


def test_tensors_that_change_are_those_written():
    launch: Any = LaunchOfUnknownWrites(lambda x, out: out.copy_(2 * x), x=torch.randn(9), out=torch.zeros(9))
    assert written_tensors(launch, [torch.zeros(9)]) == ["out"]


def test_results_that_were_there_before_are_found():
    """Reused memory may contain the results of the previous launch."""
    x = torch.randn(9)
    launch: Any = LaunchOfUnknownWrites(lambda x, y, out: out.copy_(2 * x), x=x, y=torch.ones(9), out=2 * x)
    assert written_tensors(launch, [torch.zeros(9)]) == ["out"]
    assert torch.equal(launch.tensors["out"], 2 * x) and torch.equal(launch.tensors["y"], torch.ones(9))


def original(source, **fields):
    return Original("import torch\nimport triton\nimport triton.language as tl\n" + source, **fields)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "matches"),
    [
        (SCALE.replace("x * factor", "factor * x"), True),
        (SCALE.replace("(2,)", "(4,)").replace("BLOCK=64", "BLOCK=32"), True),
        (SCALE.replace("x * factor", "x + factor"), False),
        (SCALE.replace("BLOCK=64", "BLOCK=32"), False),
        (SCALE.replace("(2,)", "(1,)"), False),
    ],
    ids=["same", "smaller blocks", "other values", "a part", "fewer programs"],
)
def test_the_results_of_another_form_of_the_kernel_are_the_reference(interpret, changed, matches):
    events = interpret(changed, measures=("check",), original=original(SCALE))
    (output,) = events.check["outputs"]
    assert (output["name"], output["matches"]) == ("out_ptr", matches)
    assert events.check["reference"] == "the original kernel"


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "matches"), [("0.5", True), ("0.6", False)])
def test_tensors_whose_shape_follows_a_change_are_left_out(interpret, factor, matches):
    events = interpret(
        PARTIAL_SUMS.format(64, factor), measures=("check",), original=original(PARTIAL_SUMS.format(32, 0.5))
    )
    (output,) = events.check["outputs"]
    assert (output["name"], output["matches"]) == ("out_ptr", matches)


@pytest.mark.slow
def test_nothing_is_compared_if_no_tensor_has_the_same_shape(interpret):
    alone = [PARTIAL_SUMS.format(block, 0.5).replace("    tl.store(out_ptr", "    # (") for block in (64, 32)]
    check = interpret(alone[0], measures=("check",), original=original(alone[1])).check
    assert (check["reason"], check["outputs"]) == ("The original writes no sums of this shape.", [])


@pytest.mark.slow
def test_uninitialized_inputs_do_not_make_all_results_equal(interpret):
    empty = SCALE.replace("torch.randn(10, 10", "torch.empty((10, 10)")
    changed = empty.replace("x * factor", "x + factor")
    (output,) = interpret(changed, measures=("check",), original=original(empty)).check["outputs"]
    assert not output["matches"] and output["not_finite"] == 0


@pytest.mark.slow
def test_constants_of_a_compilation_are_the_constants_of_its_run(interpret):
    """Half of the block leaves half of the elements: the grid of the script is fixed."""
    events = interpret(
        SCALE, measures=("check", "counts"), original=original(SCALE), request={"constants": {"BLOCK": 32}}
    )
    assert not events.check["outputs"][0]["matches"]
    assert events.counts["stored_bytes"] == 2 * 64


@pytest.mark.slow
def test_options_of_a_compilation_are_the_options_of_its_run(interpret):
    events = interpret(SCALE, measures=(), request={"options": {"num_warps": 8}})
    assert events.launch["options"]["num_warps"] == 8
